--- A locale in which numbers have a comma, made on the spot, since a fresh system has none.

local comma_locale = {}

local NUMERIC <const> = [[
LC_NUMERIC
decimal_point "<U002C>"
thousands_sep ""
grouping -1
END LC_NUMERIC
]]

local function put(path, text)
  local handle <close> = assert(io.open(path, "wb"))
  handle:write(text)
end

--- Makes the locale xx_XX in a folder of its own.
-- @treturn ?string the folder, for LOCPATH, to be removed by the caller; nil where localedef cannot
function comma_locale.make()
  local folder = os.tmpname()
  os.remove(folder)
  assert(os.execute("mkdir " .. folder))
  local characters = { "<code_set_name> ASCII_ONLY\n<mb_cur_max> 1\n<mb_cur_min> 1\nCHARMAP" }
  for code = 0, 127 do
    characters[#characters + 1] = ("<U%04X> \\x%02x a character"):format(code, code)
  end
  characters[#characters + 1] = "END CHARMAP\n"
  put(folder .. "/characters", table.concat(characters, "\n"))
  put(folder .. "/numeric", NUMERIC)
  -- it warns of all the parts that are left out
  local command = "cd %s && localedef -c -i ./numeric -f ./characters ./xx_XX >/dev/null 2>&1"
  os.execute(command:format(folder))
  local numeric <close> = io.open(folder .. "/xx_XX/LC_NUMERIC", "rb")
  if numeric then return folder end
  os.execute("rm -r " .. folder)
end

--- Runs Lua code in a process of its own in the locale; `...` of the code are the arguments.
-- @string code what it gives to `say` comes back
-- @treturn ?string what the code said; nil where there is no such locale
function comma_locale.run(code)
  local folder = comma_locale.make()
  if not folder then return nil end
  put(folder .. "/code.lua", [[
package.path = "generator/?.lua;" .. package.path
assert(os.setlocale("xx_XX", "numeric"))
assert(("%.1f"):format(0.5) == "0,5")
local said = {}
local function say(text) said[#said + 1] = text end
]] .. code .. "\nio.stdout:write(table.concat(said))\n")
  local pipe <close> = assert(io.popen(("LOCPATH=%s lua5.4 %s/code.lua"):format(folder, folder)))
  local said = pipe:read("a")
  os.execute("rm -r " .. folder)
  return said
end

return comma_locale
