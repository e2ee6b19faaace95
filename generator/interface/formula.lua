--- What a layer computes, as the lines of text at the head of its header.

local c = require "c"

local formula = {}

local NORMS <const> = { layer = "LayerNorm", rms = "RMSNorm" }

local function bound(count) return count.fixed and tostring(count.max) or "0.." .. count.max end

local function normed(norm, text)
  return norm and ("%s(%s)"):format(NORMS[norm.kind], text) or text
end

local function output_line(l)
  local s = l.spec
  local y = s.attention and ("[h_1; ...; h_%d]"):format(s.heads) or "o[t]"
  if s.project.o then y = "W_o " .. y .. (s.bias.o and " + b_o" or "") end
  y = normed(s.norms.output, y)
  if s.residual then y = "residual[t] + " .. y end
  return ("%s: y[t] = %s"):format(l.name, normed(s.norms.after, y))
end

local function head_line(s)
  local groups = ""
  if s.kv_heads ~= s.heads then groups = (" on %d key/value heads"):format(s.kv_heads) end
  return ("h_i = softmax(%s q_i K_i%s) V_i, %d heads%s, p_q = %d, p_v = %d"):format(
    c.float(s.scale):gsub("f$", ""), s.softcap and ", capped," or "", s.heads, groups, s.p_q, s.p_v)
end

local function counts_line(s)
  local tokens = bound(s.tokens) .. " tokens"
  if not s.attention then return tokens end
  local keys = s.context and bound(s.context) .. " context" or "self-attention"
  local past = s.cache and (", %s past in the cache"):format(bound(s.past)) or ""
  return tokens .. ", " .. keys .. past
end

local function mask_line(s)
  local masks = {}
  for _, name in ipairs { "padding", "causal", "boolean", "additive", "window" } do
    if s.mask[name] then masks[#masks + 1] = name end
  end
  if #masks == 0 then return nil end
  return ("masks: %s; a key is kept where all keep it"):format(table.concat(masks, ", "))
end

--- The layer as formulas and a line of sizes.
-- @tparam table l layer
-- @treturn table list of lines
function formula.of(l)
  local s = l.spec
  local lines = { output_line(l) }
  if s.attention then lines[2] = head_line(s) end
  lines[#lines + 1] = counts_line(s)
  if s.attention then lines[#lines + 1] = mask_line(s) end
  local input = s.norms.input
  if input then
    lines[#lines + 1] = ("the input goes through %s first"):format(NORMS[input.kind])
  end
  return lines
end

return formula
