-- Notes sockets of one user, and names those of his that have to go.
--
-- KEYS[1]   his sockets, a hash: socket -> "<since when he has it, in microseconds> <until when that counts, in milliseconds>"
-- ARGV[1]   the lease: how long a socket counts without being noted again, in milliseconds
-- ARGV[2]   how many sockets he may have; 0: as many as he has, nobody has to go
-- ARGV[3..] pairs: a socket; since when, as its instance remembers it, or '' when it does not
-- reply     {{since when, of each socket in the order given}, {sockets that have to go, the oldest first}, 1: he had none
--           before; else 0}; 0 instead when he may have any number and all is as remembered, which is what renewals find
--
-- It holds: a socket keeps its first time, here or in its instance's memory. A new one is younger than all that are
-- here, even if the clock went back. Who is dead counts for nothing and is dropped. The key ends with its last lease,
-- so that there being one means that the user is online. To be run again is always right.
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local lease = tonumber(ARGV[1])
local till = string.format('%.0f', math.floor(now / 1000) + lease)

local age, newest = {}, 0
local kept = redis.call('HGETALL', KEYS[1])
for i = 1, #kept, 2 do
  local since, ends = string.match(kept[i + 1], '^(%d+) (%d+)$')
  if ends and ends * 1000 > now then
    age[kept[i]] = tonumber(since)
    newest = math.max(newest, age[kept[i]])
  else
    redis.call('HDEL', KEYS[1], kept[i])
  end
end
local first = next(age) == nil and 1 or 0

local sinces, known = {}, true
for i = 3, #ARGV, 2 do
  local socket = ARGV[i]
  local since = age[socket] or tonumber(ARGV[i + 1]) or math.max(now, newest + 1)
  age[socket] = since
  newest = math.max(newest, since)
  local text = string.format('%.0f', since)
  redis.call('HSET', KEYS[1], socket, text .. ' ' .. till)
  known = known and text == ARGV[i + 1]
  table.insert(sinces, since)
end
redis.call('PEXPIRE', KEYS[1], lease)

local out = {}
local most = tonumber(ARGV[2])
if most == 0 and known then return 0 end
if most > 0 then
  local sockets = {}
  for socket in pairs(age) do table.insert(sockets, socket) end
  table.sort(sockets, function(a, b) return age[a] < age[b] or age[a] == age[b] and a < b end)
  for i = 1, #sockets - most do
    redis.call('HDEL', KEYS[1], sockets[i])
    table.insert(out, sockets[i])
  end
end
return {sinces, out, first}
