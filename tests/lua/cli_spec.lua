local lfs = require "lfs"

local program = lfs.currentdir() .. "/generator/qkvc"

local function read(path)
  local handle <close> = io.open(path, "rb")
  return handle and handle:read("a")
end

local function put(path, text)
  local handle <close> = assert(io.open(path, "wb"))
  handle:write(text)
end

local small = [[
return { name = "small", heads = 2, p_v = 4, d = 8, tokens = 3, unroll = "tile" }
]]

describe("qkvc", function()
  local dir

  before_each(function()
    dir = os.tmpname()
    os.remove(dir)
    assert(lfs.mkdir(dir))
  end)

  after_each(function() os.execute("rm -r " .. dir) end)

  -- Runs a shell command in dir: exit code, standard output, standard error.
  local function shell(command)
    local _, _, code = os.execute(("cd %s && { %s ; } >out.log 2>err.log </dev/null")
      :format(dir, command))
    return code, read(dir .. "/out.log"), read(dir .. "/err.log")
  end

  local function qkvc(words) return shell(program .. " " .. words) end

  local function holds(text, fragment)
    assert.truthy(text:find(fragment, 1, true), ("%q is not in:\n%s"):format(fragment, text))
  end

  describe("help", function()
    it("lists the commands and the exit codes", function()
      local code, out, err = qkvc("--help")
      assert.equal(0, code)
      assert.equal("", err)
      for _, name in ipairs({ "generate", "check", "explain", "import", "pack", "verify",
                              "bench", "Exit codes: 0 done" }) do
        holds(out, name)
      end
    end)

    local options = {
      generate = { "-o DIR", "--target T", "--unroll U", "SPEC", "generated" },
      check = { "-o DIR", "--target T", "--unroll U", "SPEC" },
      explain = { "--target T", "SPEC" },
      import = { "-o DIR", "--layer N", "CONFIG" },
      pack = { "-o FILE", "--layer N", "SPEC", "CHECKPOINT" },
      verify = { "--target T", "--unroll U", "--cc CC", "--cflags FLAGS", "--run", "CASE" },
      bench = { "--tokens", "--target T", "--json", "SPEC" },
    }
    for name, words in pairs(options) do -- order does not matter: each makes a test of its own
      it("explains " .. name .. " with an example", function()
        local code, out = qkvc(name .. " --help")
        assert.equal(0, code)
        holds(out, "Example:\n  qkvc " .. name .. " ")
        for _, word in ipairs(words) do holds(out, word) end
      end)
    end

    it("tells the version", function()
      local code, out = qkvc("--version")
      assert.equal(0, code)
      assert.equal("qkvc " .. require "version" .. "\n", out)
    end)
  end)

  describe("arguments", function()
    local wrong = {
      { "", "which command?" },
      { "nope", "unknown command 'nope'" },
      { "generate", "missing argument" },
      { "generate a.lua --nope", "unknown option '--nope'" },
      { "generate a.lua --unroll some", "must be one of 'full', 'tile', 'auto'" },
      { "generate a.lua -o ''", "-o: must not be empty" },
      { "generate a.lua -o", "requires an argument" },
      { "explain a.lua b.lua", "too many arguments" },
      { "pack a.lua b --layer x", "x: must be a whole number of 0 or more" },
      { "pack a.lua b --layer -1", "" },
      { "bench a.lua --tokens 1,x", "--tokens: x: must be a whole number of 0 or more" },
    }
    for _, case in ipairs(wrong) do
      it("refuses with exit 2: qkvc " .. case[1], function()
        local code, out, err = qkvc(case[1])
        assert.equal(2, code)
        assert.equal("", out)
        assert.equal("qkvc: ", err:sub(1, 6))
        holds(err, case[2])
      end)
    end

    local arguments = require "arguments"

    it("take values that begin with a dash", function()
      local parsed = arguments.parse({ "verify", "x", "--cflags", "-O3 -g", "--run", "-v", "y" })
      assert.equal("-O3 -g", parsed.cflags)
      assert.equal("-v", parsed.run)
      assert.same({ "x", "y" }, parsed.cases)
    end)

    it("take counts of tokens with commas and spaces", function()
      local parsed = arguments.parse({ "bench", "x", "--tokens", "1,8", "32", "--json" })
      assert.same({ 1, 8, 32 }, parsed.tokens)
      assert.is_true(parsed.json)
      assert.same({}, arguments.parse({ "bench", "x" }).tokens)
    end)

    it("have defaults", function()
      local parsed = arguments.parse({ "generate", "a.lua", "--target", "x", "--target", "y" })
      assert.equal("generated", parsed.dir)
      assert.same({ "x", "y" }, parsed.targets)
      assert.equal("/out", arguments.parse({ "check", "a.lua", "-o", "/out//" }).dir)
      assert.equal("/", arguments.parse({ "check", "a.lua", "-o", "/" }).dir)
    end)
  end)

  describe("the environment", function()
    it("may call it through a symbolic link", function()
      local code, out = shell(("ln -s %s one && ln -s one two && ./two --version"):format(program))
      assert.equal(0, code)
      holds(out, "qkvc ")
    end)

    it("is not loaded from the folder that it is called in", function()
      for _, name in ipairs({ "lfs", "argparse", "arguments", "spec", "read" }) do
        put(dir .. "/" .. name .. ".lua", "error('loaded from the wrong folder')")
      end
      local code, out = qkvc("--version")
      assert.equal(0, code)
      holds(out, "qkvc ")
    end)

    it("is refused with exit 3 where Lua is another version", function()
      if not os.execute("command -v lua5.1 >/dev/null") then
        pending("no other Lua is installed")
        return
      end
      local code, _, err = shell("lua5.1 " .. program .. " --version")
      assert.equal(3, code)
      holds(err, "qkvc: needs Lua 5.4, this is Lua 5.1")
    end)

    it("is refused with exit 3 where a library is missing", function()
      local code, _, err = shell(([[lua5.4 -e 'package.path = "" package.cpath = ""' ]])
        .. program .. " --version")
      assert.equal(3, code)
      holds(err, "the Lua module lfs is missing: `make deps` installs it")
    end)

    it("ends with exit 3 where standard output is full", function()
      put(dir .. "/small.lua", small)
      local code, _, err = shell(program .. " generate small.lua >/dev/full")
      assert.equal(3, code)
      holds(err, "qkvc: standard output: ")
    end)
  end)

  describe("generate", function()
    it("writes the layer, then changes nothing", function()
      put(dir .. "/small.lua", small)
      local code, out, err = qkvc("generate small.lua -o out")
      assert.equal("", err)
      assert.equal(0, code)
      holds(out, "wrote   out/small/small.h\n")
      holds(read(dir .. "/out/small/small.h"), "Generated by qkvc " .. require "version")
      local written = out:match("(%d+) written, 0 unchanged, 0 removed\n$")
      code, out = qkvc("generate small.lua -o out/")
      assert.equal(0, code)
      assert.equal(("0 written, %s unchanged, 0 removed\n"):format(written), out)
    end)

    it("writes the same bytes from JSON, in any folder and locale", function()
      put(dir .. "/small.lua", small)
      put(dir .. "/same.json",
        '{"unroll": "tile", "tokens": 3, "d": 8, "p_v": 4, "heads": 2, "name": "small"}')
      assert.equal(0, (qkvc("generate small.lua -o first")))
      assert.equal(0, (shell("mkdir sub && cd sub && LC_ALL=de_DE.UTF-8 TZ=Asia/Tokyo " .. program
        .. " generate ../same.json -o ../second")))
      assert.equal(0, (shell("diff -r first second")))
    end)

    it("prints every complaint about every spec and writes nothing", function()
      put(dir .. "/small.lua", small)
      put(dir .. "/bad.lua",
        "return { name = 'bad', heads = 0, p_v = 4, d = 8, tokens = -1, x = 1 }")
      put(dir .. "/broken.json", '{"heads": 2')
      local code, out, err = qkvc("generate small.lua bad.lua broken.json nowhere.lua none -o out")
      assert.equal(2, code)
      assert.equal("", out)
      for _, fragment in ipairs({ "qkvc: bad.lua: heads: 0: ", "qkvc: bad.lua: tokens: -1: ",
                                  "qkvc: bad.lua: x: 1: ", "qkvc: broken.json: line 1, column 1: ",
                                  "qkvc: nowhere.lua: No such file",
                                  "qkvc: none: neither a .lua or .json file nor the name" }) do
        holds(err, fragment)
      end
      assert.is_nil(lfs.attributes(dir .. "/out"))
    end)

    it("refuses two specs of one name, but takes one spec twice", function()
      put(dir .. "/small.lua", small)
      put(dir .. "/again.lua", small)
      local code, _, err = qkvc("generate small.lua again.lua -o out")
      assert.equal(2, code)
      holds(err, 'name: "small"')
      assert.is_nil(lfs.attributes(dir .. "/out"))
      assert.equal(0, (qkvc("generate small.lua small.lua -o out")))
    end)

    it("refuses an unknown target with exit 2", function()
      put(dir .. "/small.lua", small)
      local code, _, err = qkvc("generate small.lua --target abacus -o out")
      assert.equal(2, code)
      holds(err, "small.lua: targets[1]: \"abacus\"")
    end)

    it("ends with exit 2 where others' files are in the way, and leaves them", function()
      put(dir .. "/small.lua", small)
      lfs.mkdir(dir .. "/out")
      lfs.mkdir(dir .. "/out/small")
      put(dir .. "/out/small/small.c", "mine")
      local code, _, err = qkvc("generate small.lua -o out")
      assert.equal(2, code)
      holds(err, "qkvc: out/small/small.c: not written by qkvc")
      assert.equal("mine", read(dir .. "/out/small/small.c"))
      assert.is_nil(read(dir .. "/out/small/small.h"))
    end)

    it("ends with exit 3 where the disk refuses, and leaves nothing behind", function()
      put(dir .. "/small.lua", small)
      local code, _, err = qkvc("generate small.lua -o /dev/null/out")
      assert.equal(3, code)
      holds(err, "qkvc: /dev/null: a char device is in the way of the folder")
      code, _, err = shell("trap '' XFSZ; ulimit -f 8; " .. program .. " generate small.lua -o out")
      assert.equal(3, code)
      holds(err, "cannot write: File too large")
      assert.is_nil(lfs.attributes(dir .. "/out"))
    end)

    it("takes the name of a shipped spec", function()
      local code, _, err = qkvc("generate minilm_l6 -o out")
      assert.equal("", err)
      assert.equal(0, code)
      assert.truthy(read(dir .. "/out/minilm_l6/minilm_l6.h"))
    end)
  end)

  describe("check", function()
    it("passes where all is current, and names what is not", function()
      put(dir .. "/small.lua", small)
      local code, out = qkvc("check small.lua -o out")
      assert.equal(1, code)
      holds(out, "missing  out/small/small.h\n")
      assert.equal(0, (qkvc("generate small.lua -o out")))
      code, out = qkvc("check small.lua -o out")
      assert.equal(0, code)
      holds(out, ": 0 stale, 0 missing, 0 orphaned\n")
      put(dir .. "/out/small/old.c", "/* Generated by qkvc 0.0.1. */\n")
      put(dir .. "/out/small/small.h", "/* Generated by qkvc 0.0.1. */\n")
      code, out = qkvc("check small.lua -o out")
      assert.equal(1, code)
      holds(out, "stale    out/small/small.h\n")
      holds(out, "orphaned out/small/old.c\n")
      holds(out, ": 1 stale, 0 missing, 1 orphaned\n")
    end)

    it("ends with exit 2 for a wrong spec", function()
      assert.equal(2, (qkvc("check nowhere.lua -o out")))
    end)
  end)

  describe("explain", function()
    it("prints the layer's sizes", function()
      put(dir .. "/small.lua", small)
      local code, out, err = qkvc("explain small.lua")
      assert.equal("", err)
      assert.equal(0, code)
      holds(out, "small")
      holds(out, "multiply")
    end)

    it("ends with exit 2 for a wrong spec", function()
      assert.equal(2, (qkvc("explain nowhere.lua")))
    end)
  end)
end)
