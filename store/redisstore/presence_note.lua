-- Notes sockets of some users, and names those of theirs that have to go.
--
-- KEYS      of each user his sockets, a hash: socket -> "<since when he has it, in microseconds> <until when that counts, in
--           milliseconds>". (In a cluster a call is about one user.)
-- ARGV[1]   the lease: how long a socket counts without being noted again, in milliseconds
-- ARGV[2]   how many sockets a user may have; 0: as many as he has, nobody has to go
-- ARGV[3..] for each user: how many pairs follow; and the pairs: a socket; since when, as its instance remembers it, or ''
--           when it does not
-- reply     for each user {{since when, of each socket in the order given}, {sockets that have to go, the oldest first}, 1: he
--           had none before; else 0}; 0 instead when he may have any number and all is as remembered, as renewals find it;
--           or an error
--
-- It holds: a socket keeps its first time, here or in its instance's memory. A new one is younger than all that are
-- here, even if the clock went back. Who is dead counts for nothing and is dropped. The key ends with its last lease,
-- so that there being one means that the user is online. To be run again is always right.
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local lease = tonumber(ARGV[1])
local till = string.format('%.0f', math.floor(now / 1000) + lease)
local most = tonumber(ARGV[2])

-- note notes the pairs of one user, which are the arguments from one to another.
local function note(key, from, to)
  local age, newest = {}, 0
  local kept = redis.pcall('HGETALL', key)
  if kept.err then
    return kept -- something else is called so: the others need not suffer
  end
  for i = 1, #kept, 2 do
    local since, ends = string.match(kept[i + 1], '^(%d+) (%d+)$')
    if ends and ends * 1000 > now then
      age[kept[i]] = tonumber(since)
      newest = math.max(newest, age[kept[i]])
    else
      redis.call('HDEL', key, kept[i])
    end
  end
  local first = next(age) == nil and 1 or 0

  local sinces, known = {}, true
  for i = from, to, 2 do
    local socket = ARGV[i]
    local since = age[socket] or tonumber(ARGV[i + 1]) or math.max(now, newest + 1)
    age[socket] = since
    newest = math.max(newest, since)
    local text = string.format('%.0f', since)
    redis.call('HSET', key, socket, text .. ' ' .. till)
    known = known and text == ARGV[i + 1]
    table.insert(sinces, since)
  end
  redis.call('PEXPIRE', key, lease)
  if most == 0 then
    return known and 0 or {sinces, {}, first}
  end

  local sockets, out = {}, {}
  for socket in pairs(age) do table.insert(sockets, socket) end
  table.sort(sockets, function(a, b) return age[a] < age[b] or age[a] == age[b] and a < b end)
  for i = 1, #sockets - most do
    redis.call('HDEL', key, sockets[i])
    table.insert(out, sockets[i])
  end
  return {sinces, out, first}
end

local reply, arg = {}, 3
for i, key in ipairs(KEYS) do
  local to = arg + 2 * ARGV[arg]
  reply[i] = note(key, arg + 1, to)
  arg = to + 1
end
return reply
