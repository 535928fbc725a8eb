local M = {}

-- Adds.
function M.add(a, b)
  if a then

    return a + b
  end
end
local function helper(x)
  return x
end
return M
