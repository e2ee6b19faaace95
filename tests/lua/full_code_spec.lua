-- Full unrolling, proven from the machine code: no cycle of branches, no recursion, no memcpy; and
-- a layer tiled and written out gives the same bits.

local agree = dofile "tests/full/agree.lua"
local branches = dofile "tests/full/branches.lua"
local emit = require "emit"
local layer_matrix = dofile "tests/lua/layer_matrix.lua"
local layer_module = require "layer"
local lfs = require "lfs"
local spec = require "spec"
local targets = require "targets"

local function complete(raw)
  local completed, complaints = spec.complete(raw)
  assert(completed, table.concat(complaints or {}, "\n"))
  return completed
end

--- The names of the targets that are built, in order.
local function built()
  local list = {}
  for _, name in ipairs(targets.names) do
    local file = package.searchpath("targets." .. name, package.path)
    if file then list[#list + 1] = name end
  end
  return list
end

--- The files of the stages: { path, text, target }.
local function stages_of(completed)
  local list = {}
  for _, file in ipairs(assert(emit.files(completed))) do
    local rest = file.path:match("/(.*)$"):sub(#completed.name + 1)
    for _, stage in ipairs({ "_qkv", "_attention", "_output" }) do
      local machine = rest:match("^" .. stage .. "(.*)%.c$")
      if machine then
        list[#list + 1] = {
          path = file.path:match("[^/]*$"), text = file.text,
          target = machine == "" and "portable" or machine:sub(2),
        }
      end
    end
  end
  assert(#list > 0)
  return list
end

-- ---- Files on disk ------------------------------------------------------------------------------

local folder

local function put(path, text)
  local handle <close> = assert(io.open(folder .. "/" .. path, "wb"))
  handle:write(text)
end

--- Runs a command in the folder; what it prints, and its exit code.
local function run(command)
  local _, _, code = os.execute(("cd %s && { %s ; } >log 2>&1 </dev/null"):format(folder, command))
  local handle <close> = assert(io.open(folder .. "/log", "rb"))
  return code, handle:read("a")
end

local function compile(flags, sources)
  put("sources", table.concat(sources, "\n") .. "\n")
  local code, log = run("xargs -P2 -n6 " .. flags .. " -std=c11 -c <sources")
  assert.equal(0, code, log)
end

--- Writes a layer's files; the names of its sources, without the Check test.
local function put_layer(completed)
  local sources = {}
  for _, file in ipairs(assert(emit.files(completed))) do
    local name = file.path:match("[^/]*$")
    if not name:find("_test%.c$") then
      put(name, file.text)
      if name:find("%.c$") then sources[#sources + 1] = name end
    end
  end
  return sources
end

local function in_folder()
  before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(lfs.mkdir(folder))
  end)

  after_each(function() os.execute("rm -r " .. folder) end)
end

--- A layer of the matrix by its name.
local function of_matrix(name, unroll, on)
  for _, raw in ipairs(layer_matrix.specs(unroll)) do
    if raw.name == name .. "_" .. unroll then
      raw.targets = on
      return complete(raw)
    end
  end
  error("no layer " .. name)
end

describe("the machine code of a full layer", function()
  in_folder()

  if io.popen("uname -m"):read("l") ~= "x86_64" then
    return it("is read on x86-64 only", function() pending("this is another machine") end)
  end

  -- clang without optimisation copies structs with memcpy: the portable target's vectors
  local COPIES <const> = { memcpy = true }

  local EACH <const>, OPTIMISED <const> = { "gcc -O0", "gcc -O2", "clang -O0", "clang -O2" },
    { "gcc -O2", "clang -O2" }

  local LAYERS <const> = {
    { "small_full", complete(dofile("specs/small_full.lua")), EACH },
    { "{max} tokens and every mask", of_matrix("masks_per_head", "full"), EACH },
    { "grouped heads", of_matrix("grouped", "full"), OPTIMISED },
    { "a cache and rope", of_matrix("rope", "full"), OPTIMISED },
    { "norms, every target", of_matrix("bert", "full", built()), OPTIMISED },
  }

  for _, layer in ipairs(LAYERS) do
    it("has no loop, no recursion, no memcpy: " .. layer[1], function()
      put_layer(layer[2])
      local sources, objects = {}, {}
      for i, file in ipairs(stages_of(layer[2])) do
        sources[i], objects[i] = file.path, folder .. "/" .. file.path:gsub("c$", "o")
      end
      for _, flags in ipairs(layer[3]) do
        compile(flags, sources)
        local findings, instructions = branches.of(objects, flags == "clang -O0" and COPIES)
        assert.equal("", table.concat(findings, "\n"), flags)
        assert.is_true(instructions > 500)
      end
    end)
  end

  it("is reached through functions that do not loop either", function()
    local completed = complete(dofile("specs/small_full.lua"))
    put_layer(completed)
    compile("gcc -O2 -fno-jump-tables", { "small_full.c" })
    for _, finding in ipairs(branches.of({ folder .. "/small_full.o" }, COPIES)) do
      local place = finding:match("%.o: ([%w_.]+)")
      assert.truthy(place:find("pack") or finding:find("calls memcmp", 1, true), finding)
    end
  end)
end)

describe("the reading of machine code", function()
  in_folder()

  --- The findings in the code of one C function.
  local function findings_of(c, flags)
    put("sample.c", c)
    compile(flags or "gcc -O2", { "sample.c" })
    return table.concat((branches.of({ folder .. "/sample.o" })), "\n")
  end

  it("finds nothing in straight code with forward branches", function()
    for _, flags in ipairs({ "gcc -O0", "gcc -O2", "clang -O0", "clang -O2" }) do
      assert.equal("", findings_of([[
static int twice(int a) { return a > 5 ? a * 2 : a; }
int f(int a, int b);
int f(int a, int b) { if (a > b) { a = twice(a); } else if (b) { a -= 3; } return twice(a + b); }
]], flags))
    end
  end)

  it("finds loops of every kind", function()
    for _, body in ipairs({
      "for (int i = 0; i < n; i++) { a[i] = a[i] * 3 + i; }",
      "while (n) { a[n] = 5; n = a[n - 1]; }",
      "do { a[n]++; } while (--n);",
      "again: a[n] = n; if (a[n + 1] > 3) { n++; goto again; }",
    }) do
      for _, flags in ipairs({ "gcc -O0", "gcc -O2", "clang -O1", "clang -O0" }) do
        local c = "void f(int *a, int n);\nvoid f(int *a, int n) { " .. body .. " }\n"
        assert.truthy(findings_of(c, flags):find("jumps back to", 1, true), flags .. ": " .. body)
      end
    end
  end)

  it("finds recursion, also through two functions and by a jump", function()
    local one = "int f(int n);\nint f(int n) { return n ? n + f(n - 1) * f(n - 2) : 1; }\n"
    assert.truthy(findings_of(one, "gcc -O0"):find("recursion", 1, true))
    local two = "int f(int n);\nint g(int n);\nint f(int n) { return n ? g(n - 1) + 1 : 1; }\n"
      .. "int g(int n) { return n ? f(n - 2) + 2 : 2; }\n"
    assert.truthy(findings_of(two, "gcc -O0"):find("recursion", 1, true))
    local tail = "int f(int n, int m);\nint g(int n, int m);\n"
      .. "int f(int n, int m) { return n ? g(n - 1, m * n) : m; }\n"
      .. "int g(int n, int m) { return n ? f(n - 2, m + n) : m; }\n"
    assert.not_equal("", findings_of(tail, "gcc -O2 -fno-inline"))
  end)

  it("finds calls of memcpy and memset, and instructions that repeat", function()
    local head = "#include <string.h>\nvoid f(char *a, const char *b, size_t n);\n"
      .. "void f(char *a, const char *b, size_t n) "
    assert.truthy(findings_of(head .. "{ memcpy(a, b, n); a[0]++; }\n"):find("memcpy", 1, true))
    assert.truthy(findings_of(head .. "{ memset(a, b[0], n); }\n"):find("memset", 1, true))
    assert.truthy(findings_of([[
void f(char *a);
void f(char *a) { __asm__ volatile ("mov $9, %%ecx\n rep stosb" : "+D"(a) :: "rcx"); }
]]):find("repeats", 1, true))
  end)

  it("takes a jump through a table for one that may go anywhere", function()
    local cases = {}
    for i = 0, 15 do cases[#cases + 1] = ("case %d: g(%d); break;"):format(i, i * i + 7) end
    assert.truthy(findings_of("void g(int n);\nvoid f(int n);\nvoid f(int n) { switch (n) { "
      .. table.concat(cases, " ") .. " } g(n); }\n"):find("can not be seen", 1, true))
  end)
end)

describe("a layer tiled and written out", function()
  in_folder()

  --- Both forms of a layer in one program on a target: its exit code and what it prints.
  local function difference(name, flags, target, on)
    local tile, full = of_matrix(name, "tile", on), of_matrix(name, "full", on)
    local sources = put_layer(tile)
    table.move(put_layer(full), 1, 999, #sources + 1, sources)
    local names = { tile = tile.name, full = full.name }
    put("agree.c", agree.program(layer_module.of(tile), names, target))
    sources[#sources + 1] = "agree.c"
    compile(flags, sources)
    local objects = table.concat(sources, " "):gsub("%.c%f[%s\0]", ".o")
    return run(flags .. " -o agree " .. objects .. " -lm && ./agree")
  end

  for _, target in ipairs(built()) do
    if target ~= "portable" then
      local layers = { "causal", "grouped", "ring", "masks_per_head", "relative", "long_rows" }
      for i, name in ipairs(layers) do
        it(("agrees to the bit on %s: %s"):format(target, name), function()
          local flags = i % 2 == 0 and "clang -O2" or "gcc -O1"
          local code, log = difference(name, flags, target, { "portable", target })
          if code == 77 then return pending("this machine has no " .. target) end
          assert.equal("", log)
          assert.equal(0, code)
        end)
      end
    end
  end

  it("agrees to the bit where the portable target's code can not be contracted", function()
    local code, log = difference("capped", "gcc -O1 -ffp-contract=off", "portable")
    assert.equal("", log)
    assert.equal(0, code)
  end)

  it("is found to differ where one multiply-add is another", function()
    local tile, full = of_matrix("plain", "tile"), of_matrix("plain", "full")
    local sources = put_layer(tile)
    for _, file in ipairs(assert(emit.files(full))) do
      local changed, count = file.text:gsub("vec_fma%(a, w_0, c_1_0%)", "vec_fma(a, w_0, c_0_0)", 1)
      local file_name = file.path:match("[^/]*$")
      if not file_name:find("_test%.c$") then
        put(file_name, file_name:find("_output") and changed or file.text)
        if file_name:find("%.c$") then sources[#sources + 1] = file_name end
      end
      if file_name:find("_output%.c$") then assert.equal(1, count) end
    end
    put("agree.c", agree.program(layer_module.of(tile), { tile = tile.name, full = full.name },
      "portable"))
    sources[#sources + 1] = "agree.c"
    compile("gcc -O1 -ffp-contract=off", sources)
    local code, log = run("gcc -o agree " .. table.concat(sources, " "):gsub("%.c%f[%s\0]", ".o")
      .. " -lm && ./agree")
    assert.equal(1, code)
    assert.truthy(log:find("y differs", 1, true), log)
  end)
end)
