local spec = require "spec"
local expect = dofile "tests/lua/spec_expectations.lua"
local base = expect.base
local refuses = expect.refuses
local complaints_of = expect.complaints_of

describe("all complaints", function()
  it("come at once, five for five mistakes", function()
    refuses { {
      { name = "int", heads = 0, tokens = { max = 0 }, softcap = -1, windows = 3 },
      'name: "int": is a keyword of C', "heads: 0: must", "tokens.max: 0: must",
      "softcap: -1: must", "windows: 3: is no field",
    }, {
      { kv_heads = 3, past = 4, position = { rope = { base = 10, dim = 3 },
        alibi = { slopes = { 1 } } }, dtype = "bf16" },
      'dtype: "bf16": is not built yet', "kv_heads: 3: must divide", "past: 4: needs cache",
      "position.rope.dim: 3: must be even", "position.alibi.slopes: { 1 }: must be one a head",
    } }
  end)

  it("stand on one line each, whatever a value holds", function()
    local long, odd = ("x"):rep(1000), "a\n\27[2J\0\xff\""
    for _, value in ipairs { long, odd, { [odd] = odd }, { { { { { 1 } } } } }, print } do
      for _, changes in ipairs { { name = value }, { align = value }, { [odd] = value },
        { mask = value }, { mask = { value } }, { position = value } } do
        for _, complaint in ipairs(complaints_of(changes)) do
          assert.is_nil(complaint:find("[%c\x80-\xff]"), complaint)
          assert.truthy(#complaint < 400, complaint)
        end
      end
    end
    assert.same({ 'align: "a\\n\\x1b[2J\\x00\\xff\\"": must be "end" or "start"' },
      complaints_of { align = odd })
  end)

  it("are the end of a spec that holds itself", function()
    local loop = {}
    loop.norm, loop.position, loop[1] = loop, loop, loop
    assert.truthy(#complaints_of { position = loop, norm = loop, mask = loop } > 0)
  end)

  it("are all that any value makes", function()
    local junk = {
      0, 1, -1, 2, 3.5, 1e300, 0 / 0, "", "q", "causal", true, false, {}, { 1 },
      { max = 3 }, { "q" },
      { kind = "rms", eps = 1 }, { window = { left = 1 } }, { { window = { left = 1 } } },
      { rope = { base = 2 } }, { rope = {} }, { alibi = { slopes = { 1 } } },
      { relative = { max = 2 } },
      { bias = { buckets = 3 } }, { relative = { kind = "key", left = 1, right = 1 } },
    }
    local accepted = 0
    for _ = 1, 5000 do
      local changes = {}
      for _ = 1, math.random(4) do
        changes[spec.fields[math.random(#spec.fields)].name] = junk[math.random(#junk)]
      end
      local completed, complaints = spec.complete(base(changes))
      if completed then
        accepted = accepted + 1
        assert.equal("integer", math.type(spec.hash(completed)))
      else
        assert.truthy(#complaints > 0)
      end
    end
    assert.truthy(accepted > 50 and accepted < 4000)
  end)
end)
