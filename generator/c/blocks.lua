--- Blocks of C that are the whole of another: a template gives each turn of a loop a block of its
-- own, which only the written-out turns need. Knows C's braces, nothing of attention.

local blocks = {}

--- For each line that is nothing but an opening brace, the line of nothing but its closing one.
local function pairs_of(lines)
  local closing, open = {}, {}
  for i, line in ipairs(lines) do
    for brace in line.code:gmatch("[{}]") do
      if brace == "{" then
        open[#open + 1] = i
      else
        local from = table.remove(open)
        if from and lines[from].code == "{" and line.code == "}" then closing[from] = i end
      end
    end
  end
  return closing
end

--- The lines without those braces that open right behind another and close right before it.
-- @tparam {table,...} lines each with `bare`, its text, and `code`, that without comments
-- @treturn {table,...} those that are needed, in their order
function blocks.needed(lines)
  local spare = {}
  for from, to in pairs(pairs_of(lines)) do   -- order does not matter: each is judged by itself
    local before, after = lines[from - 1], lines[to + 1]
    local opens = before and before.bare:find("{$") and before.code:find("{$")
    if opens and after and after.code:find("^}") then spare[from], spare[to] = true, true end
  end
  local needed = {}
  for i, line in ipairs(lines) do
    if not spare[i] then needed[#needed + 1] = line end
  end
  return needed
end

return blocks
