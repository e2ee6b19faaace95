local json = require "read.json"

describe("read.json", function()
  it("reads every kind of value", function()
    local value = json.decode('{"a": 1, "b": [true, false], "c": "x\\u00e9\\n", "d": -2.5}', "f")
    assert.same({ a = 1, b = { true, false }, c = "x\u{e9}\n", d = -2.5 }, value)
  end)

  it("keeps integers apart from floats", function()
    local value = json.decode("[3, 3.0, 3e0, 9223372036854775807, 9223372036854775808]", "f")
    local kinds = {}
    for index, number in ipairs(value) do kinds[index] = math.type(number) end
    assert.same({ "integer", "float", "float", "integer", "float" }, kinds)
  end)

  it("tells an empty array from an empty object", function()
    local value = json.decode('{"array": [], "object": {}, "number": 1}', "f")
    assert.equal("array", json.kind(value.array))
    assert.equal("object", json.kind(value.object))
    assert.is_nil(json.kind(value.number))
  end)

  it("drops null members and keeps the places in an array", function()
    local value = json.decode('{"gone": null, "list": [1, null, 3]}', "f")
    assert.is_nil(value.gone)
    assert.equal(3, #value.list)
    assert.equal(json.null, value.list[2])
    assert.equal(3, value.list[3])
  end)

  it("keeps null members where they are asked for", function()
    local value = json.decode('{"none": null, "inner": {"none": null}}', "f", true)
    assert.equal(json.null, value.none)
    assert.equal(json.null, value.inner.none)
  end)

  it("leaves marks of leniency inside strings alone", function()
    local text = '"a // b ,] 1. \\" ,} \\\\"'
    assert.equal('a // b ,] 1. " ,} \\', json.decode(text, "f"))
  end)

  local wrong = {
    { "an object that ends too early", '{"a": 1', "line 1, column 1: unterminated object" },
    { "a string that ends too early", '{"a": "x', "line 1, column 7: unterminated string" },
    { "an empty text", "", "value expected" },
    { "a missing colon", '{"a" 1}', "line 1, column 6: colon expected" },
    { "a missing comma", '[1\n 2]', "line 2, column 2: invalid JSON" },
    { "two commas", '[1,,2]', "line 1, column 4: invalid JSON" },
    { "a comma before a bracket", '[1,]', "line 1, column 3: a comma before a closing bracket" },
    { "a comma and a space before a bracket", '[1, ]', "line 1, column 4: invalid JSON" },
    { "a comma before a brace", '{"a": 1,}', "line 1, column 8: a comma before a closing" },
    { "a comment", '{"a": 1 /* one */}', "line 1, column 9: a comment" },
    { "a comment at the end", '1 // one', "line 1, column 3: a comment" },
    { "text behind the value", '{}\n{}', "line 2, column 1: text after the end of the value" },
    { "a NUL behind the value", "{}\0", "line 1, column 3: text after the end of the value" },
    { "a key without quotes", '{a: 1}', "line 1, column 2: key expected" },
    { "single quotes", "{'a': 1}", "key expected" },
    { "a key twice", '{"a": {"b": 1, "b": 2}}', "a.b: the key stands twice in one object" },
    { "a key twice with null", '{"a": null, "a": 2}', "a: the key stands twice in one object" },
    { "NaN", '{"a": NaN}', "value expected" },
    { "Infinity", '[-Infinity]', "line 1, column 2: invalid JSON" },
    { "a number beyond the doubles", '{"a": [1, 1e999]}', "a[2]: the number is too large" },
    { "a leading zero", '[01]', "line 1, column 3: invalid JSON" },
    { "a bare point", '[1.]', "a number without digits after its point" },
    { "a hexadecimal number", '0x10', "text after the end" },
    { "an unknown escape", '["\\q"]', "unsupported escape sequence" },
    { "a line break in a string", '"a\nb"', "unterminated string" },
    { "null alone", "null", "the value is null" },
    { "brackets without end", ("["):rep(100000), "nested too deeply" },
  }
  for _, case in ipairs(wrong) do
    it("refuses " .. case[1], function()
      local value, message = json.decode(case[2], "some/file.json")
      assert.is_nil(value)
      assert.equal("some/file.json: ", message:sub(1, 16))
      assert.truthy(message:find(case[3], 1, true), message)
    end)
  end

  it("encodes in one order: the given keys first, then sorted", function()
    local value = { zeta = 1, alpha = { b = 2, a = 1 }, name = "n", list = { 1, "x", true } }
    for _ = 1, 20 do
      assert.equal('{"name":"n","alpha":{"a":1,"b":2},"list":[1,"x",true],"zeta":1}',
        json.encode(value, { "name" }))
    end
  end)

  it("encodes floats so that they read back as the same double and as floats", function()
    for _, number in ipairs({ 0.1, 1 / 3, 1e-300, 2.0 ^ 70, 1.0, -0.5, 5e-324 }) do
      local back = json.decode(json.encode({ x = number }), "f").x
      assert.equal(number, back)
      assert.equal("float", math.type(back))
    end
  end)

  it("encodes what it decoded", function()
    local text = '{"a":[],"b":{},"c":[1,null,2.5],"d":"\\"\\\\"}'
    assert.equal(text, json.encode(json.decode(text, "f")))
  end)

  it("does not encode what JSON cannot hold", function()
    assert.error_matches(function() json.encode({ x = 0 / 0 }) end, "not a JSON number")
    assert.error_matches(function() json.encode({ x = math.huge }) end, "not a JSON number")
    assert.error_matches(function() json.encode({ [true] = 1 }) end, "key must be a string")
  end)
end)
