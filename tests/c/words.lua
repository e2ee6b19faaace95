-- Writes the words of each target as C that check_words.c calls: words_<target>.c and machines.c.
-- Usage, from the top of the project: lua5.4 tests/c/words.lua FOLDER

package.path = "generator/?.lua;" .. package.path
local targets = require "targets"
local vocabulary = require "vocabulary"
local words = require "words"

local folder = assert(arg[1], "usage: words.lua FOLDER")

local OPERANDS <const> = {
  ["const float *"] = "use->from", ["const int32_t *"] = "use->from",
  ["const uint8_t *"] = "use->from", ["float *"] = "use->to", ["int32_t *"] = "use->to",
  ["float "] = "use->number",
  ["int32_t "] = "use->bits", ["ptrdiff_t "] = "use->row",
}

local RESULTS <const> = {
  vec = "vec_store_bits(use->result, %s);", float = "use->number_result = %s;",
  int = "use->truth_result = %s;", void = "%s;",
}

--- A function that takes the operands of one word from a use and puts its result there.
local function runner(word, name, on)
  local list, vectors = {}, 0
  for parameter in word[3]:gmatch("[^,]+") do
    local ctype = parameter:match("^%s*(.-)[%a_]+$")
    if ctype == "vec " then
      list[#list + 1] = ("vec_load_bits(use->vectors[%d])"):format(vectors)
      vectors = vectors + 1
    elseif parameter ~= "void" then
      list[#list + 1] = assert(OPERANDS[ctype], parameter)
    end
  end
  local call = ("vec_%s(%s)"):format(name, table.concat(list, ", "))
  local unused = #list == 0 and word[2] == "void" and "(void)use;\n" or ""
  return ("%sstatic void run_%s(word_use *use)\n{\n%s%s\n}\n"):format(on, name, unused,
    RESULTS[word[2]]:format(call))
end

local function source(target)
  local on = target.attribute and "ON_TARGET " or ""
  local runners, rows = {}, {}
  local function add(word, name, count)
    runners[#runners + 1] = runner(word, name, on)
    rows[#rows + 1] = ('{ "%s", %d, run_%s },'):format(word[1], count, name)
  end
  for _, word in ipairs(vocabulary.words) do
    if word.counted then
      for count = 1, target.lanes - 1 do add(word, word[1] .. "_" .. count, count) end
    else
      add(word, word[1], 0)
    end
  end
  local text = table.concat(runners, "\n")
  local out = { '#include "words.h"\n' }
  local function line(...) out[#out + 1] = string.format(...) end
  line("extern const machine machine_%s;", target.name)
  line("#ifdef __FAST_MATH__\nenum { FAST = 1 };\n#else\nenum { FAST = 0 };\n#endif\n")
  if target.guard then
    line("#if %s", target.guard)
    for _, header in ipairs(target.headers) do line("#include <%s>", header) end
  end
  line("%s", words.source(text, target) .. text)
  line("static const word words[] = {\n%s\n{ NULL, 0, NULL },\n};\n", table.concat(rows, "\n"))
  line("static int here(void)\n{\n%s\n}", target.test or "return 1;")
  if target.guard then
    line("#else\nstatic const word words[] = { { NULL, 0, NULL } };")
    line("static int here(void) { return 0; }\n#endif")
  end
  line('\nconst machine machine_%s = { "%s", %d, %d, FAST, here, words };', target.name,
    target.name, target.lanes, target.fma and 1 or 0)
  return table.concat(out, "\n") .. "\n"
end

local function write(name, text)
  local handle <close> = assert(io.open(folder .. "/" .. name, "wb"))
  assert(handle:write(text))
end

local declarations, list = {}, {}
for i, name in ipairs(targets.names) do
  write("words_" .. name .. ".c", source(targets.get(name)))
  declarations[i] = ("extern const machine machine_%s;\n"):format(name)
  list[i] = ("&machine_%s,\n"):format(name)
end
write("machines.c", ('#include "words.h"\n\n%s\nconst machine *const machines[] = {\n%sNULL,\n};\n')
  :format(table.concat(declarations), table.concat(list)))
