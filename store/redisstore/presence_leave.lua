-- Forgets sockets of one user.
--
-- KEYS[1]  his sockets, as presence_note.lua keeps them
-- ARGV     the sockets
-- reply    how many are left
--
-- It holds: the key ends with the last lease of those that are left; without any there is no key. To be run again is
-- always right.
for i = 1, #ARGV do redis.call('HDEL', KEYS[1], ARGV[i]) end
local left = redis.call('HVALS', KEYS[1])
local last = 0
for i = 1, #left do
  last = math.max(last, tonumber(string.match(left[i], ' (%d+)$')) or 0)
end
if #left > 0 then redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', last)) end
return #left
