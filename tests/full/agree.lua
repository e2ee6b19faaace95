--- A C program that runs one layer tiled and written out on the same random input, on one target
-- after the other, and compares what both give bit by bit.

local agree = {}

--- Places that a cache may need at the most; the program looks for a capacity that a layer takes.
local MOST_PLACES <const> = 4096

local PRELUDE <const> = [[
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 1;

static uint32_t next(void)
{
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33);
}

static void *memory(size_t bytes)
{
  void *p = aligned_alloc(64, (bytes + 127) / 64 * 64);
  if (!p) { exit(2); }
  return memset(p, 0x5a, (bytes + 127) / 64 * 64);
}

static float *floats(size_t count)
{
  float *p = memory(count * sizeof(float));
  for (size_t i = 0; i < count; i++) { p[i] = (float)(next() % 20001) / 10000.0f - 1.0f; }
  return p;
}

/* Flags that keep most; */
static uint8_t *flags(size_t count)
{
  uint8_t *p = memory(count);
  for (size_t i = 0; i < count; i++) { p[i] = next() % 5 != 0; }
  return p;
}

/* Added to scores: mostly small, some drop their key. */
static float *additions(size_t count)
{
  static const uint32_t minus_infinity = 0xff800000u;
  float *p = floats(count);
  for (size_t i = 0; i < count; i++) {
    if (next() % 5 == 0) { memcpy(p + i, &minus_infinity, 4); }
  }
  return p;
}

static int failed;

static void same(const char *what, const char *run, const void *a, const void *b, size_t bytes)
{
  if (memcmp(a, b, bytes) != 0) {
    printf("%s: %s differs\n", run, what);
    failed = 1;
  }
}
]]

--- How many elements a field of the call has when the counts are the largest.
local function elements_of(layer, field)
  local counts = { tokens = layer.spec.tokens.max, keys = layer.keys_max,
                   context = layer.spec.context and layer.spec.context.max }
  local count = 1
  for _, width in ipairs(field.shape) do count = count * (counts[width] or width) end
  return math.max(count, 1)
end

local function weights_text(layer)
  local shared, fields = {}, {}
  for _, weight in ipairs(layer.weights) do
    local count = 1
    for _, width in ipairs(weight.shape) do count = count * width end
    shared[#shared + 1] = ("  const float *w_%s = floats(%d);"):format(weight.role, count)
    if weight.kind == "vector" then
      fields[#fields + 1] = (".%s = w_%s"):format(weight.role, weight.role)
    else
      local head, row, col = weight.rows * weight.cols, weight.cols, 1
      if weight.role == "wo" then head, row, col = weight.rows, 1, weight.heads * weight.rows end
      fields[#fields + 1] = (".%s = { w_%s, %d, %d, %d }"):format(weight.role, weight.role, head,
        row, col)
    end
  end
  return table.concat(shared, "\n"), #fields > 0 and table.concat(fields, ", ") or ".none = 0"
end

--- Values of the counts of each run: the largest, then smaller ones where they may be.
local function runs_of(layer)
  local s, runs = layer.spec, {}
  for run = 1, 3 do
    local function some(most) return (most + run - 1) // run end
    local tokens = s.tokens.fixed and s.tokens.max or math.max(1, some(s.tokens.max))
    local context = s.context and (s.context.fixed and s.context.max or some(s.context.max))
    runs[run] = {
      tokens = tokens, context = context, past = s.past.fixed and s.past.max or some(s.past.max),
      context_length = some(context or tokens),
    }
  end
  return runs
end

local OUTPUTS <const> = { y = true, weights = true, scores = true }

local function inputs_text(layer)
  local lines = {}
  for _, field in ipairs(layer.call) do
    if field.shape and not OUTPUTS[field.field] then
      local kind = field.ctype:find("uint8_t") and "flags"
        or field.field == "additive" and "additions" or "floats"
      lines[#lines + 1] = ("  %sin_%s = %s(%d);"):format(field.ctype, field.field, kind,
        elements_of(layer, field))
    end
  end
  return table.concat(lines, "\n")
end

--- A text in which the form's names and words stand in place of NAME, UPPER, FORM and others.
local function filled(text, words)
  return (text:gsub("%u%u+", words))
end

local CACHE <const> = [[
    float *FORM_keys = memory(4 * UPPER_CACHE_FLOATS_KEYS(PLACES));
    float *FORM_values = memory(4 * UPPER_CACHE_FLOATS_VALUES(PLACES));
    memcpy(FORM_keys, old_keys, 4 * UPPER_CACHE_FLOATS_KEYS(PLACES));
    memcpy(FORM_values, old_values, 4 * UPPER_CACHE_FLOATS_VALUES(PLACES));
    NAME_status FORM_status = UPPER_CAPACITY;
    for (size_t places = 16; places <= PLACES && FORM_status == UPPER_CAPACITY; places += 16) {
      FORM_call.cache = (NAME_cache){ FORM_keys, FORM_values, places };
      FORM_status = NAME_forward(&FORM_layer, &FORM_call, FORM_workspace, UPPER_WORKSPACE_BYTES);
    }
]]

local FORWARD <const> = [[
    NAME_status FORM_status = NAME_forward(&FORM_layer, &FORM_call, FORM_workspace,
      UPPER_WORKSPACE_BYTES);
]]

local VERDICT <const> = [[
    if (FORM_status != UPPER_OK) {
      printf("NAME: %s\n", NAME_status_text(FORM_status));
      return 1;
    }
]]

--- The C that makes one form's call of a run; form is "tile" or "full".
local function call_text(layer, words, run, masks)
  local lines, fields = {}, {}
  for _, field in ipairs(layer.call) do
    local key = field.field
    if field.ctype == "size_t" then
      fields[#fields + 1] = (".%s = %d"):format(key, run[key])
    elseif OUTPUTS[key] then
      lines[#lines + 1] = ("    float *%s_%s = memory(%d);\n"):format(words.FORM, key,
        4 * elements_of(layer, field))
      fields[#fields + 1] = (".%s = %s_%s"):format(key, words.FORM, key)
    elseif field.shape and (masks or not field.optional) then
      fields[#fields + 1] = (".%s = in_%s"):format(key, key)
    end
  end
  lines[#lines + 1] = filled("    NAME_call FORM_call = { ", words) .. table.concat(fields, ", ")
    .. " };\n"
  lines[#lines + 1] = filled((layer.spec.cache and CACHE or FORWARD) .. VERDICT, words)
  return table.concat(lines)
end

local function run_text(layer, forms, run, masks)
  local title = ("%d tokens%s"):format(run.tokens, masks and "" or ", nothing optional")
  local lines = { "  {\n" }
  for _, words in ipairs(forms) do lines[#lines + 1] = call_text(layer, words, run, masks) end
  local function same(what, pointer, bytes)
    local call = '    same("%s", "%s", tile_%s, full_%s, %s);\n'
    lines[#lines + 1] = call:format(what, title, pointer, pointer, bytes)
  end
  for _, field in ipairs(layer.call) do
    if OUTPUTS[field.field] then
      same(field.field, field.field, tostring(4 * elements_of(layer, field)))
    end
  end
  if layer.spec.cache then
    local bytes = filled("4 * UPPER_CACHE_FLOATS_", forms[1])
    same("keys of the cache", "keys", bytes .. "KEYS(PLACES)")
    same("values of the cache", "values", bytes .. "VALUES(PLACES)")
  end
  lines[#lines + 1] = "  }\n"
  return table.concat(lines)
end

local OLD_CACHE <const> = [[
  float *old_keys = floats(UPPER_CACHE_FLOATS_KEYS(PLACES));
  float *old_values = floats(UPPER_CACHE_FLOATS_VALUES(PLACES));
]]

local OPENING <const> = [[
  const NAME_weights FORM_weights = { FIELDS };
  void *FORM_packed = memory(UPPER_PACKED_BYTES), *FORM_workspace = memory(UPPER_WORKSPACE_BYTES);
  NAME_layer FORM_layer;
  if (NAME_pack(&FORM_weights, FORM_packed, UPPER_PACKED_BYTES) != UPPER_OK) { return 2; }
  switch (NAME_open(&FORM_layer, FORM_packed, UPPER_PACKED_BYTES, UPPER_TARGET_MACHINE)) {
    case UPPER_OK: break;
    case UPPER_TARGET: return 77;
    default: return 2;
  }
]]

--- Writes the program.
-- @tparam table layer the layer (either form: both have the same interface)
-- @tparam table names { tile = name, full = name } that both were emitted under
-- @string target the target that both are opened for; exit 77 where the machine lacks it
-- @treturn string C
function agree.program(layer, names, target)
  local weights, fields = weights_text(layer)
  local forms = {}
  for i, form in ipairs({ "tile", "full" }) do
    forms[i] = {
      FORM = form, NAME = names[form], UPPER = names[form]:upper(), FIELDS = fields,
      MACHINE = target:upper(),
    }
  end
  local lines = { ('#include "%s.h"\n#include "%s.h"\n'):format(names.tile, names.full), PRELUDE }
  lines[#lines + 1] = ("enum { PLACES = %d };\n\nint main(void)\n{\n"):format(MOST_PLACES)
  lines[#lines + 1] = weights .. "\n" .. inputs_text(layer) .. "\n"
  if layer.spec.cache then lines[#lines + 1] = filled(OLD_CACHE, forms[1]) end
  for _, words in ipairs(forms) do lines[#lines + 1] = filled(OPENING, words) end
  for _, run in ipairs(runs_of(layer)) do
    lines[#lines + 1] = run_text(layer, forms, run, true)
    lines[#lines + 1] = run_text(layer, forms, run, false)
  end
  lines[#lines + 1] = "  return failed;\n}\n"
  return table.concat(lines)
end

return agree
