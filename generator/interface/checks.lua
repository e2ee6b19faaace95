--- How a call is checked and completed, field by field, before anything is computed.

local fields = require "interface.fields"

local checks = {}

local function default(name, value)
  return ("if (full->%s == 0) { full->%s = %s; }"):format(name, name, value)
end

local function row_check(l, f, least)
  return ("if (full->%s < %s) { return %s_STRIDE; }"):format(f.strides[1], least, l.upper)
end

--- One number for each query and key: rows of `columns`, heads of rows.
local function map_checks(l, f)
  return {
    default(f.strides[1], "(ptrdiff_t)columns"),
    row_check(l, f, "(ptrdiff_t)columns"),
    default(f.strides[2], "(ptrdiff_t)tokens * full->" .. f.strides[1]),
  }
end

--- Another field, with its strides, for one that is not given.
local function substitute(l, f)
  local other = f.field == "v" and "k" or fields.query_input(l)
  local lines = { ("if (!full->%s) {"):format(f.field) }
  lines[2] = ("full->%s = full->%s; full->%s_row = full->%s_row;"):format(f.field, other, f.field,
    other)
  if f.strides[2] then lines[3] = ("full->%s_head = full->%s_head;"):format(f.field, other) end
  lines[#lines + 1] = "}"
  return table.concat(lines, "\n")
end

--- Rows of a literal width, whole or head by head.
local function row_checks(l, f)
  local lines = {}
  if f.field == "residual" and l.residual_by_heads then
    return { default(f.strides[1], f.width), row_check(l, f, f.width) }
  end
  if f.optional then lines[1] = substitute(l, f) end
  lines[#lines + 1] = ("if (%s > 0 && !full->%s) { return %s_NULL; }"):format(f.rows, f.field,
    l.upper)
  lines[#lines + 1] = default(f.strides[1], f.width)
  if f.strides[2] then
    lines[#lines + 1] = default(f.strides[2], f.part)
  else
    lines[#lines + 1] = row_check(l, f, f.width)
  end
  return lines
end

--- The C that completes and checks one field.
-- @tparam table l layer
-- @tparam table f a field of layer.call
-- @treturn string statements on `full`, perhaps none
function checks.of(l, f)
  local lines = {}
  if f.width then
    lines = row_checks(l, f)
  elseif #f.strides == 2 then
    lines = map_checks(l, f)
  end
  return table.concat(lines, "\n")
end

return checks
