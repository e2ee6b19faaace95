local spec = require "spec"
local expect = dofile "tests/lua/spec_expectations.lua"
local absent = expect.absent
local refuses = expect.refuses
local accepts = expect.accepts

local count_rule <const> = "must be an integer from 1 to 2147483647"

describe("a field alone", function()
  it("must be there where it is required", function()
    refuses {
      { { name = absent }, "name: missing: must be a C identifier" },
      { { heads = absent }, "heads: missing: " .. count_rule },
      { { p_v = absent }, "p_v: missing: " .. count_rule },
      { { tokens = absent }, "tokens: missing: " .. count_rule },
    }
    assert.equal("spec: 3: must be a table of fields", select(2, spec.complete(3))[1])
    assert.equal("spec: missing: must be a table of fields", select(2, spec.complete())[1])
  end)

  it("must be a count where it is one", function()
    for _, name in ipairs { "heads", "kv_heads", "p_v", "p_q", "p_o", "d", "d_q", "d_k", "d_v" } do
      refuses {
        { { [name] = 0 }, name .. ": 0: " .. count_rule },
        { { [name] = -4 }, name .. ": -4: " .. count_rule },
        { { [name] = 4.5 }, name .. ": 4.5: " .. count_rule },
        { { [name] = "4" }, name .. ": \"4\": " .. count_rule },
        { { [name] = true }, name .. ": true: " .. count_rule },
        { { [name] = { 4 } }, name .. ": { 4 }: " .. count_rule },
        { { [name] = 0 / 0 }, name .. ": nan: " .. count_rule },
        { { [name] = math.huge }, name .. ": inf: " .. count_rule },
        { { [name] = 2147483648 }, name .. ": 2147483648: " .. count_rule },
        { { [name] = 1e300 }, name .. ": 1e+300: " .. count_rule },
      }
    end
  end)

  it("may be n or { max = n } where it counts rows", function()
    refuses {
      { { tokens = 0 }, "tokens: 0: " .. count_rule .. ", or { max = n }" },
      { { tokens = -1 }, "tokens: -1: must" },
      { { tokens = "8" }, "tokens: \"8\": must" },
      { { tokens = { max = 0 } }, "tokens.max: 0: " .. count_rule },
      { { tokens = { max = 2.5 } }, "tokens.max: 2.5: " .. count_rule },
      { { tokens = {} }, "tokens.max: missing: " .. count_rule },
      { { tokens = { 8 } }, "tokens.max: missing: must", "tokens.1: 8: is no field of tokens" },
      { { tokens = { max = 8, min = 1 } }, "tokens.min: 1: is no field of tokens" },
      { { context = 0 }, "context: 0: must" },
      { { context = { max = -3 } }, "context.max: -3: must" },
      { { cache = true, past = -1 }, "past: -1: must be an integer from 0" },
      { { cache = true, past = { max = 0 } }, "past.max: 0: must" },
    }
    accepts { { cache = true, past = 0 }, { context = { max = 1 } } }
  end)

  it("must be a finite number where it is one", function()
    local number = "must be a finite number in the range of f32"
    refuses {
      { { scale = 0 / 0 }, "scale: nan: " .. number },
      { { scale = math.huge }, "scale: inf: " .. number },
      { { scale = -math.huge }, "scale: -inf: " .. number },
      { { scale = 1e39 }, "scale: 1e+39: " .. number },
      { { scale = "1" }, "scale: \"1\": " .. number },
    }
    accepts { { scale = 0x1.fffffep127 }, { softcap = 0x1p-126 }, { scale = 0 },
      { scale = -0.75 }, { scale = 1e-300 } }
  end)

  it("must be above 0 where that is asked", function()
    local positive = "must be a finite number above 0 in the normal range of f32"
    for _, wrong in ipairs { { 0, "0" }, { -1, "-1" }, { 0 / 0, "nan" }, { math.huge, "inf" },
      { 1e-60, "1e-60" }, { 1e39, "1e+39" }, { "1", "\"1\"" } } do
      local value, shown = wrong[1], wrong[2]
      refuses {
        { { softcap = value }, ("softcap: %s: %s"):format(shown, positive) },
        { { norm = { kind = "rms", eps = value } }, ("norm.eps: %s: %s"):format(shown, positive) },
        { { qk_norm = { eps = value } }, ("qk_norm.eps: %s: %s"):format(shown, positive) },
        { { position = { rope = { base = value } } },
          ("position.rope.base: %s: %s"):format(shown, positive) },
        { { position = { rope = { base = 10, factor = value } } },
          ("position.rope.factor: %s: %s"):format(shown, positive) },
      }
    end
  end)

  it("must be true or false where it is a switch", function()
    for _, name in ipairs { "context_length", "sinks", "head_mask", "residual", "return_weights",
      "attention" } do
      refuses {
        { { [name] = 1 }, name .. ": 1: must be true or false" },
        { { [name] = "yes" }, name .. ": \"yes\": must be true or false" },
      }
    end
  end)

  it("must be one of the words where it is a choice", function()
    refuses {
      { { align = "middle" }, 'align: "middle": must be "end" or "start"' },
      { { align = true }, 'align: true: must be "end" or "start"' },
      { { cache = "rings" }, 'cache: "rings": must be false, true, "linear" or "ring" '
        .. '(did you mean "ring"?)' },
      { { return_scores = true }, 'return_scores: true: must be "raw", "capped" or "biased"' },
      { { unroll = "none" }, 'unroll: "none": must be "full", "tile" or "auto"' },
      { { norm = { kind = "batch", eps = 1e-5 } }, 'norm.kind: "batch": must be "layer" or "rms"' },
      { { norm = { kind = "rms", eps = 1e-5, place = "before" } },
        'norm.place: "before": must be' },
      { { qk_norm = { kind = "layer", eps = 1e-5 } }, 'qk_norm.kind: "layer": must be "rms"' },
      { { position = { relative = { kind = "query", max = 8 } } },
        'position.relative.kind: "query": must be "key" or "key_query"' },
    }
  end)

  it("says by name what is not built yet", function()
    refuses {
      { { dtype = "bf16" }, 'dtype: "bf16": is not built yet; it must be "f32"' },
      { { dtype = "int8" }, 'dtype: "int8": is not built yet' },
      { { dtype = "f64" }, 'dtype: "f64": must be "f32"' },
      { { io = "bf16" }, 'io: "bf16": is not built yet' },
      { { precision = "fast" }, 'precision: "fast": is not built yet' },
      { { precision = "bf16" }, 'precision: "bf16": is not built yet' },
      { { reproducible = false }, "reproducible: false: is not built yet; it must be true" },
      { { reproducible = "no" }, 'reproducible: "no": must be true' },
    }
  end)

  it("must be known", function()
    refuses {
      { { kvheads = 2 }, 'kvheads: 2: is no field of a spec (did you mean "kv_heads"?)' },
      { { Heads = 2 }, 'Heads: 2: is no field of a spec (did you mean "heads"?)' },
      { { quantum = 1 }, "quantum: 1: is no field of a spec" },
      { { num_heads = 2 }, "num_heads: 2: is no field of a spec; it is called heads" },
      { { causal = true }, "causal: true: is no field of a spec; it belongs into mask" },
      { { rope = {} }, "rope: {}: is no field of a spec; it belongs into position" },
      { { [1] = "x" }, '1: "x": is no field of a spec' },
      { { ["a b"] = 1 }, '"a b": 1: is no field of a spec' },
      { { [true] = 1 }, "spec: { d = 16" },
      { { position = { rop = {} } },
        'position.rop: {}: is no field of position (did you mean "rope"' },
      { { position = { rope = { base = 10, dims = 4 } } },
        'position.rope.dims: 4: is no field of position.rope (did you mean "dim"?)' },
      { { position = { alibi = { slopes = { 1, 1, 1, 1 }, zzz = 1 } } },
        "position.alibi.zzz: 1: is no field of position.alibi, which has slopes" },
      { { norm = { kind = "rms", eps = 1e-6, weight = 1 } },
        "norm.weight: 1: is no field of norm, which has kind, eps, place, plus_one" },
      { { norm = { { kind = "rms", eps = 1e-6, epsilon = 1 } } },
        "norm[1].epsilon: 1: is no field of norm[1]" },
      { { qk_norm = { eps = 1e-6, plus_one = true } }, "qk_norm.plus_one: true: is no field" },
      { { bias = { q = true, qkv = true } }, "bias.qkv: true: is no field of bias" },
      { { mask = { { window = { left = 1, width = 2 } } } },
        "mask[1].window.width: 2: is no field of mask[1].window" },
      { { context = { max = 8, length = 1 } }, "context.length: 1: is no field of context" },
    }
  end)
end)

describe("a table or list", function()
  it("must be one", function()
    refuses {
      { { position = "rope" }, 'position: "rope": must be a table of fields' },
      { { position = { rope = 10000 } }, "position.rope: 10000: must be a table of fields" },
      { { qk_norm = true }, "qk_norm: true: must be a table of fields" },
      { { qk_norm = {} }, "qk_norm.eps: missing: must" },
      { { norm = "layer" }, 'norm: "layer": must be a table of fields, or a list' },
      { { norm = { "layer" } }, 'norm[1]: "layer": must be a table' },
      { { norm = { eps = 1e-5 } }, "norm.kind: missing: must" },
      { { norm = { kind = "rms" } }, "norm.eps: missing: must" },
      { { bias = 1 }, "bias: 1: must be true, false or a table of q, k, v and o" },
      { { bias = { q = 1 } }, "bias.q: 1: must be true or false" },
      { { bias = { "q" } }, 'bias.1: "q": is no field of bias' },
      { { targets = "avx2" }, 'targets: "avx2": must be a list of "portable", "avx2"' },
      { { targets = { "avx3" } }, 'targets[1]: "avx3": must be "portable"' },
      { { targets = { "avx2", "avx2" } }, 'targets[2]: "avx2": stands in the list twice' },
      { { project = "q" }, 'project: "q": must be a list of "q", "k", "v" and "o"' },
      { { project = { "q", "x" } }, 'project[2]: "x": must be "q", "k", "v" or "o"' },
      { { project = { "q", "k", "v", "o", "q" } }, 'project[5]: "q": stands in the list twice' },
      { { project = { q = true } }, "project: { q = true }: must be a list" },
      { { project = { [1] = "q", [3] = "v" } }, 'project: { "q", [3] = "v" }: must be a list' },
      { { position = { alibi = {} } }, "position.alibi.slopes: missing: must be a list" },
      { { position = { alibi = { slopes = {} } } }, "position.alibi.slopes: {}: must be a list" },
      { { position = { alibi = { slopes = { 1, 2, "3", 0 / 0 } } } },
        'position.alibi.slopes[3]: "3": must be a finite', "position.alibi.slopes[4]: nan: must" },
      { { position = { bias = {} } }, "position.bias.buckets: missing",
        "position.bias.max_distance: missing", "position.bias.bidirectional: missing" },
    }
  end)

  it("of masks names one mask an entry, each once", function()
    refuses {
      { { mask = "causal" }, 'mask: "causal": must be a list, as in' },
      { { mask = { causal = true } }, "mask: { causal = true }: must be a list, as in" },
      { { mask = { "causal", window = { left = 3 } } },
        "mask: { \"causal\", window = { left = 3 } }" },
      { { mask = { "casual" } }, 'mask[1]: "casual": must be "padding", "causal", "boolean", '
        .. '"additive" or "window" (did you mean "causal"?)' },
      { { mask = { 3 } }, "mask[1]: 3: must be" },
      { { mask = { {} } }, "mask[1]: {}: must name one mask" },
      { { mask = { { boolean = "shared", additive = "shared" } } },
        'mask[1]: { additive = "shared", boolean = "shared" }: must name one mask' },
      { { mask = { "causal", "padding", "causal" } },
        'mask[3]: "causal": stands in the list twice' },
      { { mask = { "boolean", { boolean = "per_head" } } },
        'mask[2]: { boolean = "per_head" }: stands in the list twice' },
      { { mask = { { padding = true } } },
        'mask[1].padding: true: has no options; write "padding"' },
      { { mask = { { boolean = "head" } } },
        'mask[1].boolean: "head": must be "shared" or "per_head"' },
      { { mask = { { additive = true } } }, "mask[1].additive: true: must be" },
      { { mask = { "window" } }, 'mask[1]: "window": must have sides' },
      { { mask = { { window = {} } } }, "mask[1].window: {}: must have left, right or both" },
      { { mask = { { window = 3 } } }, "mask[1].window: 3: must be" },
      { { mask = { { window = { left = -1 } } } },
        "mask[1].window.left: -1: must be an integer from 0" },
      { { mask = { { window = { left = 1, right = -1 } } } }, "mask[1].window.right: -1: must be" },
      { { mask = { { window = { left = 1.5 } } } }, "mask[1].window.left: 1.5: must be" },
    }
    accepts { { mask = { { window = { left = 0, right = 0 } } } } }
  end)

  it("of norms has one at each place", function()
    local rms = { kind = "rms", eps = 1e-6 }
    refuses {
      { { norm = { rms, rms } }, "norm[2]: { eps = 1e-06, kind = \"rms\" }: is the second norm at "
        .. 'the place "after"' },
      { { norm = { { kind = "rms", eps = 1e-6, place = "input" },
        { kind = "layer", eps = 1e-6, place = "input" } } }, "norm[2]: " },
    }
  end)
end)
