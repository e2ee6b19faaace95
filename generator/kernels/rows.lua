--- Work on one row at a time, between the projections: norms, rope, taking over, placing;
-- partner of templates/rows/.

local rows = {}

--- Defines a norm over rows of a width (Ba et al. 2016; Zhang and Sennrich 2019 for "rms").
-- @tparam table context, @tparam string name, @tparam string title
-- @tparam table norm { kind, eps }, @tparam integer width
function rows.define_norm(context, name, title, norm, width)
  context.writer:define(name, {
    title = title,
    body = context:render("rows/norm.c.in", { kind = norm.kind, eps = norm.eps, width = width }),
    parameters = {
      { "const float *", "x" }, { "const float *", "gamma" }, { "const float *", "beta" },
      { "float *", "y" },
    },
  })
end

--- Defines a function of (call, rooms, packed, row) from a template below rows/.
-- @tparam table more names for the template, beside the context's and `call`
function rows.define(context, name, template, title, more)
  more.call = function(f, arguments) return context.writer:call(f, arguments) end
  local prefix = "const " .. context.layer.name
  context.writer:define(name, {
    title = title, body = context:render("rows/" .. template .. ".c.in", more),
    parameters = {
      { prefix .. "_call *", "call" }, { prefix .. "_rooms *", "rooms" },
      { "const float *", "packed" }, { "size_t", "row" },
    },
  })
end

--- Statements for each row from .. to - 1, where `body(row)` gives them for one. Written out, rows
-- go with the tile of `unit` rows they are projected in: with the range that holds its first row.
function rows.each(context, most, unit, body)
  if not context.full then
    return "for (size_t row = from; row < to; row++) {\n" .. body("row") .. "}\n"
  end
  local lines = {}
  for first = 0, most - 1, unit do
    lines[#lines + 1] = ("if (from <= %d && to > %d) {"):format(first, first)
    for row = first, math.min(first + unit, most) - 1 do lines[#lines + 1] = body(row) end
    lines[#lines + 1] = "}"
  end
  return table.concat(lines, "\n") .. "\n"
end

--- Defines `angles` and `turn` where the layer has rope (Su et al. 2021), the angles in double.
function rows.define_rope(context)
  local rope, c, w = context.spec.position.rope, context.c, context.writer
  if not rope then return end
  local frequency
  if rope.frequencies then
    local at = context.names.part("rope_frequencies")
    frequency = function(m) return "(double)packed[" .. c.add(m, at) .. "]" end
  else
    local values = {}
    for m = 0, rope.dim // 2 - 1 do
      values[#values + 1] = c.double((rope.base + 0.0) ^ (-2.0 * m / rope.dim))
    end
    w:append("/* Frequencies of rope: base^(-2m/dim). */\n")
    w:append(("static const double frequency[%d] = {\n%s\n};\n\n")
      :format(#values, table.concat(values, ", ")))
    frequency = function(m) return "frequency[" .. m .. "]" end
  end
  w:define("angles", {
    title = "Cosine and sine of place * frequency, in double.",
    parameters = {
      { "const float *", "packed" }, { "ptrdiff_t", "place" }, { "float *", "cosine" },
      { "float *", "sine" },
    },
    body = context:render("rows/angles.c.in", { rope = rope, frequency = frequency }),
  })
  local pairs_text = rope.interleaved and "(2m, 2m + 1)" or ("(m, m + %d)"):format(rope.dim // 2)
  w:define("turn", {
    title = "Rotates the pairs " .. pairs_text .. " of one head.",
    parameters = {
      { "float *", "x" }, { "const float *", "cosine" }, { "const float *", "sine" },
    },
    body = context:render("rows/turn.c.in", { rope = rope }),
  })
end

return rows
