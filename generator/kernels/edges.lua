--- Small functions at the edges of a block of keys, shared by the texts of attention; partner of
-- templates/attend/edges.c.in. Those that no text names are left out of the file.

local edges = {}

local LIST <const> = {
  { "lanes_below", "How many of a vector's lanes stand below n.", "ptrdiff_t", "ptrdiff_t n" },
  { "near_distance", "A distance within the table.", "ptrdiff_t",
    "ptrdiff_t distance, ptrdiff_t low, ptrdiff_t high" },
  { "left_at", "How many stand from `here` on.", "size_t", "size_t end, size_t here" },
  { "bounded", "n within 0 .. most.", "size_t", "ptrdiff_t n, size_t most" },
  { "load_edge", "A vector of which only `left` floats exist.", "vec",
    "const float *p, size_t left" },
  { "flags_edge", "Bits of flags of which only `left` exist.", "vec",
    "const uint8_t *p, size_t left" },
  { "store_edge", "Stores the lanes that have a place.", "void", "float *p, vec a, size_t left" },
  { "all_kept", "Whether all of these flags are set.", "int",
    "const uint8_t *flags, size_t count" },
  { "kept_in", "Whether one of the next 16 flags is set.", "int",
    "const uint8_t *p, size_t left" },
}

--- Defines them all.
function edges.define(context)
  for _, edge in ipairs(LIST) do
    local name, title, result, declared = table.unpack(edge)
    local parameters = {}
    for ctype, parameter in declared:gmatch("([^,]-)([%a_]+)%f[,%z]") do
      parameters[#parameters + 1] = { (ctype:gsub("^[, ]+", ""):gsub(" $", "")), parameter }
    end
    context.writer:define(name, {
      title = title, result = result, parameters = parameters,
      body = context:render("attend/edges.c.in", { edge = name }),
    })
  end
end

return edges
