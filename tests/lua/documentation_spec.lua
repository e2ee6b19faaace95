local lfs = require "lfs"

local pages = { "README.md" }
for name in lfs.dir("docs") do
  if name:find("%.md$") then pages[#pages + 1] = "docs/" .. name end
end
table.sort(pages)

local function read(path)
  local handle <close> = assert(io.open(path, "rb"))
  return handle:read("a")
end

local function is_there(path) return lfs.attributes(path, "mode") ~= nil end

describe("the documentation", function()
  it("quotes the examples as they are", function()
    local quotes = 0
    for _, page in ipairs(pages) do
      for file, block in read(page):gmatch("<!%-%- from: (%S+) %-%->\n```%a+\n(.-)```\n") do
        quotes = quotes + 1
        assert.truthy(read(file):find(block, 1, true), page .. " quotes other text than " .. file)
      end
      local marks = select(2, read(page):gsub("<!%-%- from: ", ""))
      local blocks = select(2, read(page):gsub("<!%-%- from: %S+ %-%->\n```", ""))
      assert.equal(marks, blocks, page .. ": a mark without a block")
    end
    assert.truthy(quotes > 5)
  end)

  it("has the tables that the program's own give", function()
    local handle = io.popen("lua5.4 docs/manual.lua --check 2>&1")
    local said = handle:read("a")
    assert.truthy(handle:close(), said)
    assert.equal("", said)
  end)

  it("links to files that are there", function()
    for _, page in ipairs(pages) do
      local folder = page:match("^.*/") or ""
      for target in read(page):gmatch("%]%(([^)#:]+)%)") do
        assert.truthy(is_there(folder .. target), page .. " links to " .. target)
      end
    end
  end)

  it("names commands of make that exist", function()
    local makefile = "\n" .. read "Makefile"
    for _, page in ipairs(pages) do
      for words in read(page):gmatch("%f[%w]make ([%a -]+)[`\n]") do
        for word in words:gmatch("%f[%w]%l[%l-]+") do
          assert.truthy(makefile:find("\n" .. word .. ":", 1, true), page .. ": make " .. word)
        end
      end
    end
  end)

  it("names specs that are shipped", function()
    local list = read "specs/list.lua"
    local table_of_systems = read("README.md"):match("| system |.-\n\n")
    local count = 0
    for row in table_of_systems:gmatch("\n| [^|\n-][^|]*|([^|]*)|") do
      for name in row:gmatch("`([%l%d_]+)`") do
        count = count + 1
        assert.truthy(list:find('"' .. name .. '.lua"', 1, true), name)
      end
    end
    assert.truthy(count > 15)
  end)

  it("states paths of the repository that exist", function()
    for _, page in ipairs(pages) do
      for path in read(page):gmatch("`([%l_]+/[%w_./]*)`") do
        local own = path:find("^generator/") or path:find("^templates/") or path:find("^specs/")
          or path:find("^tests/") or path:find("^examples/") or path:find("^docs/")
        if own then assert.truthy(is_there(path), page .. " names " .. path) end
      end
    end
  end)
end)
