local lfs = require "lfs"

-- Commands that stand for the system's: what they find and do is told by files beside them.
local stand_ins = {
  ["dpkg-query"] = 'grep -qx "$4" "$0.installed" && echo installed',
  ["apt-get"] = 'echo "apt-get $*" >> "$0.log"; ! [ -e "$0.broken" ]',
  id = 'cat "$0.user"',
}

describe("tests/deps.sh", function()
  local dir

  local function put(name, text)
    local handle <close> = assert(io.open(dir .. "/" .. name, "w"))
    handle:write(text)
  end

  local function read(name)
    local handle <close> = io.open(dir .. "/" .. name)
    return handle and handle:read("a") or ""
  end

  before_each(function()
    dir = os.tmpname()
    os.remove(dir)
    assert(lfs.mkdir(dir))
    for name, body in pairs(stand_ins) do -- order does not matter: each is a file of its own
      put(name, "#!/bin/sh\n" .. body .. "\n")
      os.execute("chmod +x " .. dir .. "/" .. name)
    end
    put("dpkg-query.installed", "make\ngcc\n")
    put("id.user", "0\n")
  end)

  after_each(function() os.execute("rm -r " .. dir) end)

  local function deps()
    local _, _, code = os.execute(("PATH=%s:$PATH sh tests/deps.sh >%s/out 2>&1"):format(dir, dir))
    return code, read("out")
  end

  it("installs what is missing, and says what", function()
    local code, out = deps()
    assert.equal(0, code)
    local log = read("apt-get.log")
    local update, install = log:match("^(apt%-get update[^\n]*)\n(apt%-get install[^\n]*)\n$")
    assert.truthy(update)
    assert.truthy(install:find(" lua5.4 ", 1, true))
    assert.is_nil(install:find(" gcc ", 1, true))
    assert.is_nil(install:find(" make ", 1, true))
    assert.truthy(out:find("deps: missing: lua5.4 ", 1, true))
  end)

  it("does nothing where nothing is missing", function()
    deps()
    local packages = read("apt-get.log"):match("recommends ([^\n]*)")
    put("dpkg-query.installed", "make\ngcc\n" .. packages:gsub(" ", "\n") .. "\n")
    os.remove(dir .. "/apt-get.log")
    local code, out = deps()
    assert.equal(0, code)
    assert.equal("deps: everything is installed\n", out)
    assert.equal("", read("apt-get.log"))
  end)

  it("prints the one command and ends with exit 3 without root rights", function()
    put("id.user", "1000\n")
    local code, out = deps()
    assert.equal(3, code)
    assert.equal("", read("apt-get.log"))
    local command = out:match("needs root; run: ([^\n]+)\n$")
    assert.truthy(command:find("apt-get update && apt-get install -y", 1, true), out)
    assert.truthy(command:find(" lua-argparse ", 1, true))
  end)

  it("ends with exit 3 where the installation fails", function()
    put("apt-get.broken", "")
    local code, out = deps()
    assert.equal(3, code)
    assert.truthy(out:find("deps: apt-get failed", 1, true))
  end)
end)
