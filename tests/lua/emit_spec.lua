local comma_locale = dofile "tests/lua/comma_locale.lua"
local emit = require "emit"
local layer_matrix = dofile "tests/lua/layer_matrix.lua"
local lfs = require "lfs"
local spec = require "spec"
local targets = require "targets"

local WARNINGS <const> = "-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion "
  .. "-Wdouble-promotion -Wshadow -Wcast-align -Wcast-qual -Wstrict-prototypes "
  .. "-Wmissing-prototypes -Wundef -Wvla -Werror"

--- The names of the targets that are built, in order.
local function built()
  local list = {}
  for _, name in ipairs(targets.names) do
    local file = package.searchpath("targets." .. name, package.path)
    if file then list[#list + 1] = name end
  end
  return list
end

local function emitted(raw)
  local completed, complaints = spec.complete(raw)
  assert(completed, table.concat(complaints or {}, "\n"))
  local files, refusal = emit.files(completed)
  assert(files, raw.name .. ": " .. table.concat(refusal or {}, "\n"))
  return files
end

local known = {}

--- The files of every layer of the matrix, emitted once: { layer = its name, path, text }.
-- @tparam[opt] table on targets; portable alone without them
local function every_file(unroll, on)
  local key = unroll .. " " .. table.concat(on or {}, " ")
  if known[key] then return known[key] end
  local list = {}
  for _, raw in ipairs(layer_matrix.specs(unroll)) do
    raw.targets = on
    for _, file in ipairs(emitted(raw)) do
      file.layer = raw.name
      list[#list + 1] = file
    end
  end
  known[key] = list
  return list
end

--- Those of a list that a function of the layer's number and name wants.
local function of_layers(list, wanted)
  local kept, number, last = {}, 0, nil
  for _, file in ipairs(list) do
    if file.layer ~= last then number, last = number + 1, file.layer end
    if wanted(number, file.layer) then kept[#kept + 1] = file end
  end
  return kept
end

local function joined(...)
  local all = {}
  for _, list in ipairs({ ... }) do table.move(list, 1, #list, #all + 1, all) end
  return all
end

--- A file's name without its folder.
local function name_of(file) return file.path:match("[^/]*$") end

--- A layer's own sources, which go into a product: not its Check test.
local function is_source(file) return file.path:find("%.c$") and not file.path:find("_test%.c$") end

--- Lines of a text with their numbers, in which a pattern is found.
local function lines_with(text, pattern)
  local found, number = {}, 0
  for line in text:gmatch("([^\n]*)\n") do
    number = number + 1
    if line:find(pattern) then found[#found + 1] = number .. ": " .. line end
  end
  return table.concat(found, "\n")
end

-- ---- Files on disk, for compilers ---------------------------------------------------------------

local folder

local function put(path, text)
  local handle <close> = assert(io.open(folder .. "/" .. path, "wb"))
  handle:write(text)
end

--- Writes files into the folder, flat; returns the names of the sources.
local function put_all(list)
  local sources = {}
  for _, file in ipairs(list) do
    if not file.path:find("_test%.c$") then
      put(name_of(file), file.text)
      if is_source(file) then sources[#sources + 1] = name_of(file) end
    end
  end
  return sources
end

--- Runs a command for each of the names, two at a time, eight names a run; what it prints.
local function output_of(command, names)
  put("names", table.concat(names, "\n") .. "\n")
  local pipe = assert(io.popen(("cd %s && xargs -P2 -n8 %s <names 2>&1"):format(folder, command)))
  local printed = pipe:read("a")
  local done = pipe:close()
  return done and "" or printed .. "failed", printed
end

local function in_folder()
  before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(lfs.mkdir(folder))
  end)

  after_each(function() os.execute("rm -r " .. folder) end)
end

describe("the emitted text", function()
  local all

  setup(function() all = joined(every_file("tile", built()), every_file("full")) end)

  it("is the same twice", function()
    for _, unroll in ipairs({ "tile", "full" }) do
      local once = every_file(unroll)
      known = {}
      local again = every_file(unroll)
      assert.equal(#once, #again)
      for i, file in ipairs(once) do
        assert.equal(file.path, again[i].path)
        assert.is_true(file.text == again[i].text, file.path)
      end
    end
  end)

  it("is the same in another process, folder, time zone and in a locale with a comma", function()
    local said = comma_locale.run([[
      assert(os.setlocale("xx_XX", "numeric"))
      local specs = dofile("tests/lua/layer_matrix.lua").specs("tile")
      package.path = require("lfs").currentdir() .. "/generator/?.lua;" .. package.path
      assert(require("lfs").chdir("/"))
      for _, raw in ipairs(specs) do
        for _, file in ipairs(require("emit").files(require("spec").complete(raw))) do
          say(file.path .. "\n" .. file.text .. "\0")
        end
      end
    ]])
    if not said then return pending("no localedef to make such a locale with") end
    local i, here = 0, every_file("tile")
    for path, text in said:gmatch("([^\n]*)\n(%Z*)%z") do
      i = i + 1
      assert.equal(here[i].path, path)
      assert.is_true(here[i].text == text, path)
    end
    assert.equal(#here, i)
  end)

  it("has LF only, a newline at its end, no blank before one, no tab, nothing but ASCII", function()
    for _, file in ipairs(all) do
      assert.equal("", lines_with(file.text, "[ \t\r]$"), file.path)
      assert.equal("", lines_with(file.text, "[^\32-\126]"), file.path)
      assert.truthy(file.text:find("[^\n]\n$"), file.path)
      assert.falsy(file.text:find("\n\n\n", 1, true), file.path)
    end
  end)

  it("has no line over 99 columns", function()
    for _, file in ipairs(all) do
      local longest = ""
      for line in file.text:gmatch("[^\n]+") do
        if #line > #longest then longest = line end
      end
      assert.is_true(#longest <= 99, file.path .. ": " .. longest)
    end
  end)

  it("tells neither folder, host, user nor date", function()
    local host <close> = assert(io.popen("hostname"))
    local secrets = { lfs.currentdir(), os.date("%Y-%m-%d"), "/tmp/", "/home/", "/root/", "/usr/" }
    local name = host:read("l")
    if name and #name > 3 then secrets[#secrets + 1] = name end
    for _, file in ipairs(all) do
      for _, secret in ipairs(secrets) do
        assert.falsy(file.text:find(secret, 1, true), file.path .. ": " .. secret)
      end
      assert.equal("", lines_with(file.text, "%f[%d]20%d%d%-%d%d"), file.path)
      assert.equal("", lines_with(file.text, "__DATE__"), file.path)
      assert.equal("", lines_with(file.text, "__FILE__"), file.path)
    end
  end)

  it("begins with a banner: what it is, version, command, spec, licence", function()
    for _, file in ipairs(all) do
      local head = file.text:sub(1, file.text:find("*/", 30, true))
      assert.truthy(head:find(name_of(file), 1, true), file.path)
      for _, part in ipairs({ "Generated by qkvc " .. require "version", "qkvc generate ",
                              "SPDX-License-Identifier: MIT-0", "multiply-adds" }) do
        assert.truthy(head:find(part, 1, true), file.path .. ": " .. part)
      end
    end
  end)

  it("stands in the layer's folder, each file called after the layer", function()
    for _, file in ipairs(all) do
      assert.equal(file.layer, file.path:match("^([%w_]+)/"))
      assert.truthy(file.path:match("/(.*)$"):find("^" .. file.layer .. "[%w_]*%.[ch]$"), file.path)
    end
  end)

  it("has functions that begin with the layer's name, or are static", function()
    for _, file in ipairs(all) do
      if is_source(file) then
        local previous = ""
        for line in file.text:gmatch("([^\n]*)\n") do
          -- the head of a definition begins at the margin and ends before a brace at the margin
          if line == "{" then
            local name = previous:match("([%w_]+)%(")
            assert.truthy(previous:find("^static ") or previous:find("^ON_TARGET static ")
              or name and name:find("^" .. file.layer .. "_"), file.path .. ": " .. previous)
          elseif line:find("^%a.*%(") then
            previous = line
          end
        end
      end
    end
  end)

  it("includes the standard headers that it needs and the layer's own, no other", function()
    local standard = { ["stddef.h"] = 1, ["stdint.h"] = 1, ["string.h"] = 1, ["limits.h"] = 1,
                    ["float.h"] = 1, ["math.h"] = 1, ["immintrin.h"] = 1, ["cpuid.h"] = 1 }
    for _, file in ipairs(all) do
      for name in file.text:gmatch('#include [<"]([^>"]*)[>"]') do
        assert.truthy(standard[name] or name:find("^" .. file.layer) or file.path:find("_test%.c$"),
          file.path .. ": " .. name)
      end
    end
  end)
end)

describe("the emitted C", function()
  in_folder()

  --- The compilers say nothing about some files with all warnings.
  local function silent(compilers_and_flags, files)
    local sources = put_all(files)
    assert.is_true(#sources > 0)
    for _, flags in ipairs(compilers_and_flags) do
      assert.equal("", (output_of(("%s -std=c11 %s"):format(flags, WARNINGS), sources)))
    end
  end

  it("compiles without a warning: every option, tiled and written out", function()
    local files = joined(every_file("tile"), every_file("full"))
    silent({ "gcc -fsyntax-only", "clang -fsyntax-only" }, files)
  end)

  it("compiles without a warning for every target that is built", function()
    silent({ "gcc -fsyntax-only", "clang -fsyntax-only" },
      of_layers(every_file("tile", built()), function(number, name)
        return number % 6 == 3 or name:find("^core") or name:find("^no_output")
      end))
  end)

  it("compiles without a warning where optimisers look closer, for other machines, too", function()
    local function some(number, name) return number % 12 == 9 or name:find("^long_heads") end
    silent({ "gcc -O2 -c", "gcc -O2 -march=haswell -c", "clang -O1 -mavx512f -c" },
      joined(of_layers(every_file("tile"), some), of_layers(every_file("full"), some)))
  end)

  it("compiles without a warning where the compiler has no vectors", function()
    local files = {}
    for _, file in ipairs(of_layers(every_file("tile"), function(n) return n % 3 == 0 end)) do
      local text = file.text:gsub("defined%(__GNUC__%)", "0")
      files[#files + 1] = { path = file.path, text = text }
    end
    silent({ "gcc -fsyntax-only", "clang -fsyntax-only" }, files)
  end)

  it("has a header that C++ takes", function()
    local sources = {}
    put_all(every_file("tile"))
    for _, raw in ipairs(layer_matrix.specs("tile")) do
      local name, upper = raw.name, raw.name:upper()
      put(name .. ".cpp", ([[
#include "NAME.h"
#include "NAME.h"
NAME_status run(const NAME_layer &layer, const NAME_call &call, void *workspace);
NAME_status run(const NAME_layer &layer, const NAME_call &call, void *workspace)
{
  static_assert(UPPER_ALIGN == 64 && UPPER_PACKED_BYTES >= 64, "sizes are constants");
  return NAME_forward(&layer, &call, workspace, UPPER_WORKSPACE_BYTES);
}
]]):gsub("NAME", name):gsub("UPPER", upper))
      sources[#sources + 1] = name .. ".cpp"
    end
    for _, cc in ipairs({ "g++", "clang++" }) do
      local command = cc .. " -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only"
      assert.equal("", (output_of(command, sources)))
    end
  end)

  it("has names of the layer alone, calls libc and libm alone, and no writable memory", function()
    local allowed = {
      memcpy = true, memset = true, memcmp = true, sqrtf = true, cos = true, sin = true,
      sincos = true, _GLOBAL_OFFSET_TABLE_ = true, __stack_chk_fail = true,
    }
    for i, raw in ipairs(layer_matrix.specs("tile")) do
      local sources = put_all(of_layers(every_file("tile"), function(n) return n == i end))
      local _, printed = output_of("gcc -std=c11 -O0 -c", sources)
      assert.equal("", printed)
      local pipe <close> = assert(io.popen("cd " .. folder .. " && nm *.o && rm *.o"))
      local count = 0
      for line in pipe:lines() do
        local kind, symbol = line:match("%f[%a](%a) ([%w_.]+)$")
        if kind then
          count = count + 1
          local where = raw.name .. ": " .. line
          assert.falsy(("dDbBcCsSgG"):find(kind, 1, true), where)
          if kind == "U" then
            assert.truthy(allowed[symbol] or symbol:find("^" .. raw.name .. "_"), where)
          elseif kind:find("%u") then
            assert.truthy(symbol:find("^" .. raw.name .. "_"), where)
          end
        end
      end
      assert.is_true(count > 5)
    end
  end)
end)
