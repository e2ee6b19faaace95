std = "lua54"
max_line_length = 100
max_cyclomatic_complexity = 12
codes = true
color = false

include_files = { "**/*.lua", "generator/qkvc", ".luacheckrc", ".busted" }

files["tests/lua"] = { std = "lua54+busted" }
