--- Measurements as Markdown and as tables for the plot: what publish.sh calls.
--   lua5.4 publish.lua DOCUMENT FOLDER RESULTS...
-- RESULTS are JSON lines of `qkvc bench --json` and of peers.py. The tables of DOCUMENT between
-- `<!-- measured: NAME -->` and `<!-- end -->` are replaced; FOLDER gets SHAPE.tsv for plot.gp.
-- Prints the name of the machine.

local dkjson = require "dkjson"

local SHAPES <const> = { "tiny", "bert-tiny", "minilm", "bert-base" }
local TOKENS <const> = { 1, 8, 32, 128, 512 }

local function read(path)
  local handle <close> = assert(io.open(path, "rb"))
  return handle:read("a")
end

local function write(path, text)
  local handle <close> = assert(io.open(path, "wb"))
  assert(handle:write(text))
end

local function decimals(x, digits) return (("%." .. digits .. "f"):format(x):gsub(",", ".")) end

local function time_text(us) return decimals(us, us < 10 and 2 or us < 1000 and 1 or 0) end

-- ---- Reading -----------------------------------------------------------------------------------

--- Records by shape, tokens and name, and the names in the order they come.
local function add_records(found, path)
  for line in read(path):gmatch("[^\n]+") do
    local record, _, complaint = dkjson.decode(line)
    assert(record, complaint and path .. ": " .. complaint)
    local key = record.shape .. " " .. record.T
    found.cells[key] = found.cells[key] or {}
    found.cells[key][record.peer] = record
    if not found.seen[record.peer] then
      found.seen[record.peer] = true
      found.names[#found.names + 1] = record.peer
    end
    found.cpu, found.clock = record.cpu, record.clock
  end
end

local function new_set(paths)
  local found = { cells = {}, names = {}, seen = {} }
  for _, path in ipairs(paths) do add_records(found, path) end
  return found
end

local function is_ours(name) return name:find("^qkvc%-") ~= nil end

local function through_ctypes(name) return name:find("%-ctypes$") ~= nil end

--- Calls visit(shape, tokens, cell) for each cell that was measured, in order.
local function each_cell(found, visit)
  for _, shape in ipairs(SHAPES) do
    for _, tokens in ipairs(TOKENS) do
      local cell = found.cells[shape .. " " .. tokens]
      if cell then visit(shape, tokens, cell) end
    end
  end
end

-- ---- Tables ------------------------------------------------------------------------------------

local function row(texts) return "| " .. table.concat(texts, " | ") .. " |" end

local function bench_table(found)
  local lines = {
    row { "shape", "T", "target", "median µs", "min µs", "GFLOP/s", "of FMA peak", "of limit",
      "binds", "error" },
    "|---|---:|---|---:|---:|---:|---:|---:|---|---:|",
  }
  each_cell(found, function(shape, tokens, cell)
    for _, name in ipairs(found.names) do
      local r = cell[name]
      if r and is_ours(name) then
        lines[#lines + 1] = row { shape, tostring(tokens), (name:gsub("^qkvc%-", "")),
          time_text(r.median_us), time_text(r.min_us), decimals(r.gflops, 1),
          decimals(100 * r.peak_share, 0) .. " %", decimals(100 * r.limit_share, 0) .. " %",
          r.limit_by, (("%.1e"):format(r.rel_err):gsub(",", ".")) }
      end
    end
  end)
  return lines
end

--- The record with the least time among those a test lets through.
local function best(cell, names, by, test)
  local found
  for _, name in ipairs(names) do
    local r = cell[name]
    if r and test(name) and r.class == "f32" and (not found or r[by] < found[by]) then found = r end
  end
  return found
end

local function is_peer(name) return not is_ours(name) end
local function from_c(name) return is_ours(name) and not through_ctypes(name) end

local function peers_table(found)
  local lines = {
    row { "shape", "T", "best peer", "median µs", "min µs", "qkvc", "median µs", "min µs",
      "ratio of medians", "of minima", "through ctypes" },
    "|---|---:|---|---:|---:|---|---:|---:|---:|---:|---:|",
  }
  each_cell(found, function(shape, tokens, cell)
    local peer, least = best(cell, found.names, "median_us", is_peer),
      best(cell, found.names, "min_us", is_peer)
    local ours = best(cell, found.names, "median_us", from_c)
    local ctypes = best(cell, found.names, "median_us", through_ctypes)
    if peer and ours then
      lines[#lines + 1] = row { shape, tostring(tokens), peer.peer, time_text(peer.median_us),
        time_text(least.min_us), (ours.peer:gsub("^qkvc%-", "")), time_text(ours.median_us),
        time_text(ours.min_us), decimals(peer.median_us / ours.median_us, 2),
        decimals(least.min_us / ours.min_us, 2),
        ctypes and decimals(peer.median_us / ctypes.median_us, 2) or "" }
    end
  end)
  return lines
end

local function versions_line(found)
  local list, told = {}, {}
  for _, shape in ipairs(SHAPES) do
    for _, name in ipairs(found.names) do
      local r = is_peer(name) and (found.cells[shape .. " 8"] or {})[name]
      if r and not told[name] then
        told[name] = true
        list[#list + 1] = name .. " " .. r.version
      end
    end
  end
  return "Versions: " .. table.concat(list, ", ") .. "."
end

-- ---- The document and the plot -----------------------------------------------------------------

local function replaced(text, name, lines)
  local mark, close = "<!-- measured: " .. name .. " -->", "<!-- end -->"
  local first, last = text:find(mark, 1, true)
  assert(first, "the document has no mark " .. mark)
  local stop = assert(text:find(close, last, true), "no end of " .. mark)
  return text:sub(1, last) .. "\n" .. table.concat(lines, "\n") .. "\n" .. text:sub(stop)
end

local function machine_line(found)
  local line = found.cpu .. ", one thread."
  if found.clock ~= "cpu" then return line end
  return line .. " Other work ran meanwhile: calls above 50 µs are timed by the processor's clock\n"
    .. "(`--clock cpu`)."
end

local function title_of(name)
  return (name:gsub("^qkvc%-", "qkvc "):gsub("ort%-attention", "onnxruntime"))
end

local function plotted_names(set)
  local names = {}
  for _, name in ipairs(set.names) do
    if not through_ctypes(name) and not name:find("^loops") then names[#names + 1] = name end
  end
  return names
end

local function plot_line(tokens, cell, names, peak)
  local values = { tostring(tokens) }
  for i, name in ipairs(names) do
    values[i + 1] = cell[name] and decimals(cell[name].gflops, 2) or "-"
  end
  values[#values + 1] = decimals(peak, 1)
  return table.concat(values, "\t")
end

local function plot_table(shape, set, peak)
  local names, head = plotted_names(set), { "T" }
  for i, name in ipairs(names) do head[i + 1] = title_of(name) end
  head[#head + 1] = "FMA peak"
  local lines = { table.concat(head, "\t") }
  for _, tokens in ipairs(TOKENS) do
    local cell = set.cells[shape .. " " .. tokens]
    if cell then lines[#lines + 1] = plot_line(tokens, cell, names, peak) end
  end
  return #lines > 1 and table.concat(lines, "\n") .. "\n" or nil
end

local function highest_peak(set)
  local peak = 0
  each_cell(set, function(_, _, cell)
    for _, name in ipairs(set.names) do
      peak = math.max(peak, cell[name] and cell[name].peak_gflops or 0)
    end
  end)
  return peak
end

local function main(document, folder, results, peers)
  local measured = new_set { results }
  local beside = peers and new_set { peers }
  local text = read(document)
  text = replaced(text, "machine", { machine_line(measured) })
  text = replaced(text, "bench", bench_table(measured))
  if beside then
    local lines = peers_table(beside)
    table.move({ "", versions_line(beside) }, 1, 2, #lines + 1, lines)
    text = replaced(text, "peers", lines)
  end
  write(document, text)
  for _, shape in ipairs(SHAPES) do
    local plotted = plot_table(shape, beside or measured, highest_peak(measured))
    if plotted then write(folder .. "/" .. shape .. ".tsv", plotted) end
  end
  print(measured.cpu)
end

main(table.unpack(arg))
