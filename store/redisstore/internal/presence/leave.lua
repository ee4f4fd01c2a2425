-- Removes sockets of one user.
--
--   KEYS[1]  the user's sockets, as enter.lua writes them
--   ARGV     the sockets
--   Reply    1: one of these sockets existed, and now the user has none whose lease runs; else 0
--
-- Invariants: the key expires with the last lease of the remaining sockets. If no socket remains, there is no key. It is
-- safe to repeat the script; the repeat returns 0.
local t = redis.call('TIME')
local now = t[1] * 1000 + t[2] / 1000

local had = 0
for i = 1, #ARGV do had = had + redis.call('HDEL', KEYS[1], ARGV[i]) end
local left = redis.call('HVALS', KEYS[1])
local last = 0
for i = 1, #left do
  last = math.max(last, tonumber(string.match(left[i], ' (%d+)$')) or 0)
end
if #left > 0 then redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', last)) end
if had > 0 and last <= now then return 1 end
return 0
