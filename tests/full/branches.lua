--- Proves from the machine code of x86-64 objects that they hold no loop: the branch graph has no
-- cycle, no function reaches itself by calls, and nothing that loops in one instruction or
-- elsewhere is used. As a program: lua5.4 tests/full/branches.lua [--c-library] OBJECT...
-- prints each finding and exits 1 for any; with --c-library, calls of libc's memcpy are no finding.
--
-- The graph is that of instructions, over all functions of an object, so that a jump from one
-- function into another is an edge like any other. A jump whose target is in a register or in a
-- table may go anywhere, so it is a finding by itself, as is such a call.

local branches = {}

-- Functions of the C library that loop in the place of the code that calls them.
local LOOPS_ELSEWHERE <const> = {
  memcpy = true, memset = true, memmove = true, memcmp = true, bcmp = true, qsort = true,
}

local ENDS <const> = { ret = true, retq = true, ud2 = true, hlt = true, jmp = true, jmpq = true }

--- The instructions of an object in order: { at, mnemonic, operands, target, symbol, fn }, and the
-- functions' first addresses by name. Addresses are "<section>:<offset>".
local function parse(lines)
  local code, starts, section, fn = {}, {}, "", nil
  for line in lines do
    local name = line:match("^%x+ <([^>]+)>:$")
    local at, text = line:match("^%s+(%x+):%s+(%S.*)$")
    local relocation = line:match("^%s+%x+: R_X86_64_%w+%s+([%w_.]+)")
    if line:find("^Disassembly of section ") then
      section = line:match("section ([^:]+):")
    elseif name then
      fn = name
      starts[fn] = section .. ":" .. tonumber(line:match("^%x+"), 16)
    elseif relocation then
      if #code > 0 then code[#code].symbol = relocation end
    elseif at then
      local words = {}
      for word in text:gmatch("%S+") do words[#words + 1] = word end
      local first = 1
      while ({ bnd = 1, notrack = 1, lock = 1, cs = 1, ds = 1, data16 = 1 })[words[first]] do
        first = first + 1
      end
      local operands = table.concat(words, " ", first + 1)
      local target = operands:match("^(%x+) <") or operands:match("^(%x+)$")
      code[#code + 1] = {
        at = section .. ":" .. tonumber(at, 16), fn = fn, mnemonic = words[first],
        operands = operands,
        target = target and section .. ":" .. tonumber(target, 16), place = fn .. ", " .. at,
      }
    end
  end
  return code, starts
end

local function is_jump(mnemonic) return mnemonic:find("^j") ~= nil end

--- Instructions that repeat themselves, jump by counting, or go where it can not be seen.
local function single_findings(code, add)
  for _, one in ipairs(code) do
    local name = one.mnemonic
    if name:find("^rep") and one.operands ~= "ret" and one.operands:match("^ret") == nil then
      add(one, "repeats an instruction: " .. name .. " " .. one.operands)
    elseif name:find("^loop") then
      add(one, "loops: " .. name)
    elseif (is_jump(name) or name:find("^call")) and one.operands:find("^%*") then
      add(one, "goes where it can not be seen: " .. name .. " " .. one.operands)
    end
  end
end

--- The successors of each instruction by number.
local function edges_of(code)
  local number = {}
  for i, one in ipairs(code) do number[one.at] = i end
  local function successors(i)
    local one, list = code[i], {}
    if is_jump(one.mnemonic) and not one.symbol and one.target then
      list[#list + 1] = number[one.target]
    end
    local after = code[i + 1]
    if not ENDS[one.mnemonic] and after and after.fn == one.fn then list[#list + 1] = i + 1 end
    return list
  end
  return successors
end

--- Depth first over a graph; calls found(node) for a node that is reached from itself.
local function find_cycles(roots, successors, found)
  local state = {}      -- 1: on the path, 2: done
  for _, root in ipairs(roots) do
    local path = {}
    if not state[root] then
      state[root] = 1
      path[1] = { node = root, list = successors(root), next = 1 }
    end
    while #path > 0 do
      local top = path[#path]
      local node = top.list[top.next]
      top.next = top.next + 1
      if not node then
        state[top.node] = 2
        path[#path] = nil
      elseif state[node] == 1 then
        found(top.node, node)
      elseif not state[node] then
        state[node] = 1
        path[#path + 1] = { node = node, list = successors(node), next = 1 }
      end
    end
  end
end

--- Calls by function name: { fn = { callee, ... } }, jumps to other functions among them, and the
-- functions in order.
local function calls_of(code, starts)
  local by_start, calls, order = {}, {}, {}
  for name, at in pairs(starts) do by_start[at] = name end   -- order does not matter: a map
  for _, one in ipairs(code) do
    if not calls[one.fn] then
      calls[one.fn] = {}
      order[#order + 1] = one.fn
    end
    if one.mnemonic:find("^call") or is_jump(one.mnemonic) then
      local callee = one.symbol or one.target and by_start[one.target]
      if callee and not (is_jump(one.mnemonic) and callee == one.fn) then
        table.insert(calls[one.fn], callee)
      end
    end
  end
  return calls, order
end

--- Findings in the disassembly of one object.
-- @tparam function lines an iterator over the lines of `objdump -dr --no-show-raw-insn`
-- @tparam[opt] table allowed names of functions outside that may loop
-- @treturn {string,...} each finding with its function and offset
-- @treturn integer how many instructions were read
function branches.findings(lines, allowed)
  local code, starts = parse(lines)
  local list = {}
  single_findings(code, function(one, what) list[#list + 1] = one.place .. ": " .. what end)
  local roots = {}
  for i in ipairs(code) do roots[i] = i end
  find_cycles(roots, edges_of(code), function(from, to)
    list[#list + 1] = ("%s: jumps back to %s"):format(code[from].place, code[to].place)
  end)
  local calls, order = calls_of(code, starts)
  for _, fn in ipairs(order) do
    for _, callee in ipairs(calls[fn]) do
      if LOOPS_ELSEWHERE[callee] and not (allowed and allowed[callee]) then
        list[#list + 1] = fn .. ": calls " .. callee
      end
    end
  end
  find_cycles(order, function(fn) return calls[fn] or {} end, function(from, to)
    list[#list + 1] = from .. ": recursion through " .. to
  end)
  return list, #code
end

--- Findings in object files.
-- @tparam {string,...} objects paths
-- @tparam[opt] table allowed as in branches.findings
-- @treturn {string,...} findings, each with its object
-- @treturn integer how many instructions were read
function branches.of(objects, allowed)
  local list, instructions = {}, 0
  for _, object in ipairs(objects) do
    local command = "objdump -dr --no-show-raw-insn '" .. object .. "'"
    local pipe <close> = assert(io.popen(command))
    local found, count = branches.findings(pipe:lines(), allowed)
    for _, finding in ipairs(found) do list[#list + 1] = object .. ": " .. finding end
    instructions = instructions + count
  end
  return list, instructions
end

if arg and arg[0] and arg[0]:find("branches%.lua$") then
  local objects, allowed = {}, nil
  for _, argument in ipairs(arg) do
    if argument == "--c-library" then
      allowed = LOOPS_ELSEWHERE
    else
      objects[#objects + 1] = argument
    end
  end
  local findings, instructions = branches.of(objects, allowed)
  for _, finding in ipairs(findings) do print(finding) end
  print(("%d objects, %d instructions, %d findings"):format(#objects, instructions, #findings))
  os.exit(#findings == 0 and instructions > 0 and 0 or 1)
end

return branches
