--- Which names a layer may have. The name is the prefix of every symbol, macro and file that is
-- emitted for it, so it must be free in C, in C++, in the C library and POSIX, and between layers.

local say = require "spec.say"
local targets = require "targets"

local names = {}

local most_letters <const> = 63

names.rule = "must be a C identifier of 1 to 63 ASCII letters, digits and single underscores, "
  .. "beginning with a letter, that neither C, C++, the C library nor POSIX has taken"

local function set_of(words)
  local set = {}
  for word in words:gmatch("%S+") do set[word] = true end
  return set
end

-- ---- Names that are taken -----------------------------------------------------------------------

local c_keywords = set_of [[
alignas alignof auto bool break case char const constexpr continue default do double else enum
extern false float for goto if inline int long noreturn nullptr register restrict return short
signed sizeof static static_assert struct switch thread_local true typedef typeof typeof_unqual
union unsigned void volatile while asm fortran
]]

local cpp_keywords = set_of [[
and and_eq bitand bitor catch char8_t char16_t char32_t class co_await co_return co_yield compl
concept consteval constinit const_cast decltype delete dynamic_cast explicit export final friend
import module mutable namespace new noexcept not not_eq operator or or_eq override private
protected public reinterpret_cast requires static_cast std template this throw try typeid typename
using virtual wchar_t xor xor_eq
]]

local headers = set_of [[
aio arm_neon assert complex cpio ctype dirent dlfcn errno fcntl fenv float fmtmsg fnmatch ftw glob
grp iconv immintrin inttypes iso646 langinfo libgen limits locale malloc math memory monetary
mqueue ndbm netdb nl_types poll pthread pwd regex sched search semaphore setjmp signal spawn
stdalign stdarg stdatomic stdbit stdbool stdckdint stddef stdint stdio stdlib stdnoreturn string
strings stropts syslog tar termios tgmath threads time trace uchar ulimit unistd utime utmpx wchar
wctype wordexp
]]

local library = set_of(require "spec.reserved.library")
local posix = set_of(require "spec.reserved.posix")

-- The words of the emitted files that do not begin with the layer's name.
local own = set_of [[
vec part part_at part_bits part_bits_at part_pun qkvc first_lanes lanes_from lane_number linux unix
]]

local library_families = [[
atomic_ cnd_ memory_order_ mtx_ thrd_ tss_
ATOMIC_ DBL_ FE_ FLT_ FP_ LC_ LDBL_ PRId PRIi PRIo PRIu PRIX PRIx SCNd SCNi SCNo SCNu SCNx
INT8_ INT16_ INT32_ INT64_ INT_ INTMAX_ INTPTR_ UINT8_ UINT16_ UINT32_ UINT64_ UINT_ UINTMAX_
UINTPTR_
]]

local posix_families = [[
pthread_ posix_
ABDAY_ ABMON_ AF_ AIO_ AI_ AT_ BUS_ CLD_ CLOCK_ CMSG_ DAY_ EAI_ FNM_ FPE_ FTW_ F_ GLOB_ ILL_
IPC_ IPPORT_ IPPROTO_ IPV6_ IP_ ITIMER_ LIO_ LOG_ MAP_ MCL_ MM_ MON_ MSG_ MS_ NI_ NL_ O_ PF_
POLL_ POSIX_ PRIO_ PROT_ PTHREAD_ REG_ RLIMIT_ RTLD_ RUSAGE_ SA_ SCHED_ SEGV_ SHM_ SHUT_ SIGEV_
SI_ SOCK_ SOL_ SO_ SS_ ST_ S_ TCP_ TRAP_ UTIME_ WRDE_
]]

local function in_family(name, families)
  for prefix in families:gmatch("%S+") do
    if name:sub(1, #prefix) == prefix then return prefix end
  end
end

-- What has taken the name, or nil.
local function taken_by(name)
  local header = name:lower()
  if c_keywords[name] then return "is a keyword of C" end
  if cpp_keywords[name] then return "is a keyword of C++, where the header must work, too" end
  if library[name] then return "is a name of the C library" end
  if posix[name] then return "is a name of POSIX" end
  if headers[header] then return ("would hide the system's header %s.h"):format(header) end
  if own[name] or name:find("^vec_") then return "is a word that the emitted files use" end
  if name:find("_t$") then return "ends in _t, which POSIX keeps for types" end
  local family = in_family(name, library_families)
  if family then return ("begins with %s, which the C library keeps"):format(family) end
  family = in_family(name, posix_families)
  if family then return ("begins with %s, which POSIX keeps"):format(family) end
end

-- ---- What is emitted for a layer ----------------------------------------------------------------

local types_and_functions = [[
status status_text target matrix weights pack layer open cache cache_read cache_write call
workspace forward forward_batch project_q project_kv attend output rooms
]]

local macros = [[
FORMAT SPEC ALIGN PACKED_BYTES WORKSPACE_BYTES SCRATCH_BYTES CACHE_FLOATS_KEYS CACHE_FLOATS_VALUES
HEADS KV_HEADS D D_Q D_K D_V P_Q P_V P_O TOKENS TOKENS_MAX CONTEXT CONTEXT_MAX PAST PAST_MAX KEYS
KEYS_MAX WINDOW OK NULL ALIGNMENT SIZE CAPACITY STRIDE RANGE BLOB TARGET TARGET_BEST H STAGES_H
]]

local files = [[ stages qkv attention output weights test ]]

local function each_target(add, stem, upper)
  for _, target in ipairs(targets.names) do add(stem .. (upper and target:upper() or target)) end
end

--- What stands behind the name in the symbols, macros and files of a layer, in order.
-- @treturn {string,...} suffixes with their underscore
function names.suffixes()
  local list = {}
  local function add(suffix) list[#list + 1] = "_" .. suffix end
  for word in types_and_functions:gmatch("%S+") do
    add(word)
    each_target(add, word .. "_")
  end
  for word in macros:gmatch("%S+") do add(word) end
  each_target(add, "TARGET_", true)
  for word in files:gmatch("%S+") do
    add(word)
    each_target(add, word .. "_")
  end
  return list
end

local suffixes = names.suffixes()

-- The first symbol of this layer that somebody else has.
local function taken_symbol(name)
  for _, suffix in ipairs(suffixes) do
    local stem = suffix:find("%u") and name:upper() or name
    local symbol = stem .. suffix
    if library[symbol] or posix[symbol] then return symbol end
  end
end

-- ---- The checks ---------------------------------------------------------------------------------

local function broken_form(name)
  if type(name) ~= "string" or name == "" then return names.rule end
  local odd = name:match("[^A-Za-z0-9_]")   -- not %w, which depends on the locale
  if odd then return ("holds %s; it %s"):format(say.value(odd), names.rule) end
  if name:find("^_") then return "begins with an underscore, which C and C++ keep" end
  if name:find("_$") then return "ends in an underscore, and each symbol would then hold two" end
  if name:find("^[0-9]") then return "begins with a digit, so it is no C identifier" end
  if name:find("__", 1, true) then return "holds two underscores in a row, which C++ keeps" end
  if #name > most_letters then
    return ("has %d letters; C promises to tell names apart by %d"):format(#name, most_letters)
  end
end

--- The rule that a name breaks.
-- @param name what the field holds
-- @treturn ?string the rule, or nil for a good name
function names.broken_rule(name)
  local broken = broken_form(name) or taken_by(name)
  if broken then return broken end
  local symbol = taken_symbol(name)
  if symbol then return ("would make %s, a name of the C library or POSIX"):format(symbol) end
end

local function shortened(text, letters) return (text:sub(1, letters):gsub("_$", "")) end

--- A good name that is near to any text, for layers that are named after files or models.
-- @string text anything
-- @treturn string a name that breaks no rule; two texts may get the same
function names.from(text)
  local name = text:gsub("[^A-Za-z0-9]+", "_"):gsub("^_", "")
  local candidates = {
    shortened(name, most_letters),
    shortened("layer_" .. name, most_letters),
    shortened("layer_" .. name, most_letters - 2) .. "_0",
  }
  for _, candidate in ipairs(candidates) do
    if not names.broken_rule(candidate) then return candidate end
  end
  return error("no name made of " .. say.value(text))
end

-- Everything that a layer puts into the world, in one case: macros are upper case, and there are
-- disks that do not tell cases apart.
local function symbols_of(name)
  local list = { name:lower() }
  for _, suffix in ipairs(suffixes) do list[#list + 1] = (name .. suffix):lower() end
  return list
end

--- Complaints about layers whose symbols, macros or files would be the same.
-- @tparam {table,...} specs completed ones
-- @treturn {string,...} one complaint for each two layers that clash; empty where none do
function names.clashes(specs)
  local complaints, owner = {}, {}
  for index, spec in ipairs(specs) do
    local told = {}
    local shown = say.value(spec.name)
    for _, symbol in ipairs(symbols_of(spec.name)) do
      local other = owner[symbol]
      if other and other ~= index and not told[other] then
        told[other] = true
        local theirs = specs[other].name
        complaints[#complaints + 1] = theirs == spec.name
          and ("name: %s: is the name of two layers"):format(shown)
          or ("name: %s: clashes with the layer %s: both make %s (in one case of letters)")
            :format(shown, say.value(theirs), symbol)
      end
      owner[symbol] = other or index
    end
  end
  return complaints
end

return names
