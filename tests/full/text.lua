--- What a written-out C text holds: its functions, its multiply-adds, its loop keywords.

local text_of = {}

local KEYWORDS <const> = { "for", "while", "do", "goto" }

--- C without comments, strings and preprocessor lines; every line stays where it is.
local function bare(c)
  c = c:gsub("/%*.-%*/", function(comment) return (comment:gsub("[^\n]", "")) end)
  c = c:gsub('"[^"\n]*"', '""')
  return (("\n" .. c):gsub("\n#[^\n]*", "\n"):sub(2))
end

--- The loop keywords of a text, each with its line.
-- @string c a C file
-- @treturn {string,...} such as "12: for (...)"
function text_of.loops(c)
  local found, number = {}, 0
  for line in (bare(c) .. "\n"):gmatch("([^\n]*)\n") do
    number = number + 1
    for _, keyword in ipairs(KEYWORDS) do
      if line:find("%f[%w_]" .. keyword .. "%f[^%w_]") then
        found[#found + 1] = number .. ": " .. line
      end
    end
  end
  return found
end

--- The functions of a text in their order: { name, calls = { word = count } }.
-- @string c a C file as qkvc lays it out: heads and braces of functions stand at the margin
function text_of.functions(c)
  local list, name, body = {}, nil, nil
  for line in (bare(c) .. "\n"):gmatch("([^\n]*)\n") do
    if line == "{" then
      body = { name = name, calls = {} }
    elseif line == "}" and body then
      list[#list + 1], body = body, nil
    elseif body then
      for word in line:gmatch("%f[%w_]([%a_][%w_]*)%(") do
        body.calls[word] = (body.calls[word] or 0) + 1
      end
    else
      name = line:match("^%a.-([%w_]+)%(") or name
    end
  end
  return list
end

return text_of
