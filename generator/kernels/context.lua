--- What a stage's kernels share while they write one C file: the layer, the plan, the writer, and
-- the names that templates may use.

local c = require "c"
local render = require "render"
local writer = require "writer"

local context = {}
context.__index = context

--- A context for one stage's file.
-- @tparam table l layer
-- @tparam table p plan
-- @tparam string stage "qkv", "attention" or "output"
function context.new(l, p, stage)
  local target = p.target
  local full = p.full[stage]
  local self = setmetatable({
    layer = l, spec = l.spec, plan = p, target = target, full = full, lanes = p.lanes,
    output = {}, writer = writer.new(target.attribute and "ON_TARGET " or ""), c = c,
  }, context)
  self.loop = c.loops(full, self.output)
  self.names = {
    s = l.spec, l = l, p = p, target = target, full = full, lanes = p.lanes, name = l.name,
    upper = l.upper, output = self.output, loop = self.loop, c = c,
    add = c.add, mul = c.mul, index = c.index, offset = c.offset, float = c.float,
    double = c.double,
    part = function(role) return assert(l.packed.parts[role], role).offset // 4 end,
    has = function(role) return l.packed.parts[role] ~= nil end,
    span = function(...) return self:span(...) end,
  }
  return self
end

--- A count and its noun, for a title.
-- @tparam integer count
-- @tparam string one the noun of one
-- @tparam string more of others
-- @treturn string such as "1 query"
function context.counted(count, one, more)
  return ("%d %s"):format(count, count == 1 and one or more)
end

--- Renders a template with the context's names and more.
function context:render(file, more)
  return render.template(file, setmetatable(more or {}, { __index = self.names }))
end

--- An iterator over first .. last - 1 in steps, where first and last are run-time values within
-- start .. most: a C loop, or written out with a forward branch for each turn.
function context:span(name, first, last, step, most, start)
  if not self.full then return self.loop(name, first, last, step) end
  start = start or 0
  local at = start - step
  local guards = {}
  local function guard()
    if first ~= start then guards[1] = ("%s < %d"):format(first, at + step) end
    if last ~= most then guards[#guards + 1] = ("%s > %d"):format(last, at) end
    return #guards > 0
  end
  return function()
    if at >= start and #guards > 0 then self.output.line("}") end
    at, guards = at + step, {}
    if at >= most then return end
    if guard() then self.output.line("if (" .. table.concat(guards, " && ") .. ") {") end
    return at
  end
end

--- The C of a loop over rows by tiles. Where loops remain, the last two tiles share their rows
-- evenly, since a tile of one or two rows takes about as long as one of four.
-- @tparam table rows { tile = rows at once, most = largest count, from, to = C expressions }
-- @tparam function call call(count, row) -> the C statements for `count` rows from `row` on
function context:row_tiles(rows, call)
  local lines, tile = {}, rows.tile
  if self.full then
    -- a tile belongs to the range that holds its first row
    for row = 0, rows.most - 1, tile do
      local count = math.min(tile, rows.most - row)
      lines[#lines + 1] = ("if (%s <= %d && %s > %d) {"):format(rows.from, row, rows.to, row)
      lines[#lines + 1] = call(count, row) .. "\n}"
    end
    return table.concat(lines, "\n") .. "\n"
  end
  if tile == 1 then
    return ("for (size_t row = %s; row < %s; row++) {\n%s\n}\n"):format(rows.from, rows.to,
      call(1, "row"))
  end
  lines[1] = ("size_t row = %s;"):format(rows.from)
  if rows.most >= 2 * tile then
    lines[2] = ("for (; row + %d <= %s; row += %d) {\n%s\n}"):format(2 * tile, rows.to, tile,
      call(tile, "row"))
  end
  lines[#lines + 1] = ("switch (%s - row) {"):format(rows.to)
  for count = math.min(2 * tile - 1, rows.most), 1, -1 do
    local half = count > tile and (count + 1) // 2 or count
    local rest = count > half and "\n" .. call(count - half, "row + " .. half) or ""
    lines[#lines + 1] = ("case %d:\n%s%s\nbreak;"):format(count, call(half, "row"), rest)
  end
  lines[#lines + 1] = "default: break;\n}"
  return table.concat(lines, "\n") .. "\n"
end

--- A function that calls a tile's function for a count of positions known at run time.
-- @tparam string name
-- @tparam table f { title, parameters, most = largest count, result, call(count) -> C call }
-- @treturn string name
function context:switch(name, f)
  local lines = { "switch (positions) {" }
  for count = f.most, 1, -1 do
    lines[#lines + 1] = ("case %d:\n%s%s;%s"):format(count, f.result and "return " or "",
      f.call(count), f.result and "" or "\nbreak;")
  end
  lines[#lines + 1] = f.result and "default: return 1;\n}\n" or "default: break;\n}\n"
  local parameters = { { "size_t", "positions" } }
  for _, parameter in ipairs(f.parameters) do parameters[#parameters + 1] = parameter end
  return self.writer:define(name, {
    title = f.title, parameters = parameters, result = f.result, body = table.concat(lines, "\n"),
  })
end

return context
