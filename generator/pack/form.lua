--- The packed form of a layer's weights, the same bytes that the emitted pack function makes.
--
-- In: a layer, and a function from a role to its numbers. Out: rows of 16 numbers in the order of
-- the blob, as bytes or as C. Knows no checkpoint.

local buckets = require "buckets"

local form = {}

local PANEL <const> = 16
local MAGIC <const>, ORDER <const> = 0x43564b51, 0x01020304
local HEADER_WORDS <const> = 16

--- The words in front of the weights.
-- @tparam table layer what layer.of returned
-- @treturn {integer,...} 16 unsigned 32-bit words
function form.header(layer)
  local packed = layer.packed
  local words = {
    MAGIC, packed.format, packed.form, ORDER, layer.hash, packed.bytes & 0xFFFFFFFF,
    packed.bytes >> 32, packed.header,
  }
  for index = #words + 1, HEADER_WORDS do words[index] = 0 end
  return words
end

-- ---- Parts as rows of 16 -------------------------------------------------------------------

-- [columns/16][depth][16]: column c of the panels is output c, whichever side of the matrix that
-- is.
local function panel_rows(part, values, take)
  local row, depth, columns = {}, part.depth, part.columns
  for first = 0, columns - 1, PANEL do
    local live = math.min(PANEL, columns - first)
    for lane = live + 1, PANEL do row[lane] = 0.0 end
    for k = 1, depth do
      for lane = 1, live do row[lane] = values[(first + lane - 1) * depth + k] end
      take(row)
    end
  end
end

local function rounded(value) return (string.unpack("<f", string.pack("<f", value))) end

local function vector_rows(part, values, take)
  local row, more = {}, part.plus_one and 1.0 or 0.0
  for first = 0, part.count - 1, PANEL do
    for lane = 1, PANEL do
      local value = values[first + lane]
      row[lane] = value and rounded(value + more) or 0.0
    end
    take(row)
  end
end

-- The row of the table that a distance, key minus query, reads.
local function relative_row(relative, left)
  if relative.max then
    return function(distance) return relative.max - 1 - distance end
  end
  return function(distance) return distance + left end
end

local function bucket_row(bias)
  local each = bias.bidirectional and bias.buckets // 2 or bias.buckets
  local edges = buckets.edges(each, bias.max_distance)
  return function(distance)
    local size = bias.bidirectional and math.abs(distance) or math.max(-distance, 0)
    local bucket = 0
    while bucket < #edges and size >= edges[bucket + 1] do bucket = bucket + 1 end
    return bias.bidirectional and distance > 0 and bucket + each or bucket
  end
end

-- [rows][width]: the table laid out by distance from the farthest key on, its ends repeated.
local function distance_rows(part, values, take, position)
  local is_relative = part.role == "relative"
  local row_of = is_relative and relative_row(position.relative, part.left)
    or bucket_row(position.bias)
  local places = {}
  for column = 0, part.width - 1 do
    local distance = math.min(math.max(column - part.left - PANEL + 1, -part.left), part.right)
    places[column + 1] = row_of(distance) * part.rows
  end
  local row = {}
  for inner = 1, part.rows do
    for first = 0, part.width - 1, PANEL do
      for lane = 1, PANEL do row[lane] = values[places[first + lane] + inner] end
      take(row)
    end
  end
end

local rows_of <const> = { panels = panel_rows, vector = vector_rows, distances = distance_rows }

--- Hands out the weights of a layer part by part, in the order of the blob.
-- @tparam table layer what layer.of returned
-- @tparam function values_of role -> numbers, a matrix row by row as [out][in]; or nil and a
--   message
-- @tparam function take called with each row of 16 numbers; the table is reused
-- @treturn ?boolean true, or nil
-- @treturn string what values_of complained about
function form.rows(layer, values_of, take)
  local at = layer.packed.header
  local function count(row)
    at = at + 4 * PANEL
    take(row)
  end
  for _, part in ipairs(layer.packed.parts) do
    assert(at == part.offset, part.role)
    local values, complaint = values_of(part.role)
    if not values then return nil, complaint end
    rows_of[part.form](part, values, count, layer.spec.position)
  end
  assert(at == layer.packed.bytes, layer.name)
  return true
end

-- ---- Texts ---------------------------------------------------------------------------------

--- The packed weights as bytes, little endian.
-- @tparam table layer
-- @tparam function values_of see form.rows
-- @treturn ?string the blob, or nil
-- @treturn string what values_of complained about
function form.blob(layer, values_of)
  local pieces = { string.pack("<" .. ("I4"):rep(HEADER_WORDS), table.unpack(form.header(layer))) }
  local letters <const> = "<" .. ("f"):rep(PANEL)
  local done, complaint = form.rows(layer, values_of, function(row)
    pieces[#pieces + 1] = string.pack(letters, table.unpack(row, 1, PANEL))
  end)
  if not done then return nil, complaint end
  return table.concat(pieces)
end

-- Sixteen exact literals in four lines; semicolons become commas once no decimal point can be one.
local row_format <const> = (("    %af; %af; %af; %af;\n"):rep(PANEL // 4)):sub(1, -2)

local function row_text(row)
  local text = row_format:format(table.unpack(row, 1, PANEL))
  return (text:gsub(",", "."):gsub(";", ","))
end

local function header_lines(layer)
  local lines = {}
  local words = form.header(layer)
  for first = 1, HEADER_WORDS, 4 do
    local parts = {}
    for index = first, first + 3 do parts[#parts + 1] = ("0x%08xu,"):format(words[index]) end
    lines[#lines + 1] = "    " .. table.concat(parts, " ")
  end
  return table.concat(lines, "\n")
end

local before <const> = [[
/* clang-format off */
/*
 * ${name}: packed weights, ${remark}.
 * Generated by qkvc pack ${version}.
 * Declare where it is used: const void *${name}_packed(void); its bytes are what
 * ${name}_pack makes, ready for ${name}_open with ${upper}_PACKED_BYTES.
 * The weights keep the licence of the checkpoint.
 */
#include "${name}.h"

#if ${upper}_FORMAT != ${format} || ${upper}_SPEC != ${spec}
#error "these weights are packed for another layer or format of ${name}"
#endif

/* The header's words, then rows of 16 numbers. */
static const struct {
  _Alignas(${upper}_ALIGN) uint32_t header[16];
  float weights[${floats}];
} table = {
  {
${header}
  },
  {
]]

local after <const> = [[
  }
};

_Static_assert(sizeof table == ${upper}_PACKED_BYTES, "the table must be the whole packed form");

const void *${name}_packed(void);
const void *${name}_packed(void) { return &table; }
]]

local function filled(text, words)
  return (text:gsub("%${(%w+)}", function(word) return assert(words[word], word) end))
end

--- The packed weights as a C file that needs the layer's header alone.
-- @tparam table layer
-- @tparam function values_of see form.rows
-- @string remark where the weights come from, for the comment at the top
-- @treturn ?string the text, or nil
-- @treturn string what values_of complained about
function form.c_table(layer, values_of, remark)
  local words = {
    name = layer.name, upper = layer.upper, version = require "version", remark = remark,
    format = tostring(layer.packed.format), spec = ("0x%08xu"):format(layer.hash),
    floats = ("%d"):format((layer.packed.bytes - layer.packed.header) // 4),
    header = header_lines(layer),
  }
  local lines = { (filled(before, words):gsub("\n$", "")) }
  local done, complaint = form.rows(layer, values_of, function(row)
    lines[#lines + 1] = row_text(row)
  end)
  if not done then return nil, complaint end
  lines[#lines + 1] = filled(after, words)
  return table.concat(lines, "\n")
end

return form
