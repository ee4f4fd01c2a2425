-- Enters sockets of some users, or renews them, and returns the sockets that must be closed.
--
--   KEYS      for each user a hash: socket -> "<start, in microseconds> <expiry, in milliseconds>" (in a cluster a call is
--             about one user)
--   ARGV[1]   the lease: how long a socket counts without a renewal, in milliseconds
--   ARGV[2]   the most sockets of a user; 0: no limit, no socket must be closed
--   ARGV[3..] for each user: the number of pairs, then the pairs. A pair is a socket, and its start as the calling instance
--             remembers it, or '' if that instance does not know the start.
--   Reply     for each user {{start of each socket in the given order}, {sockets to be closed, oldest first}, first}. first is
--             1 if the user had no socket before, else 0. A user's reply is 0 instead if there is no limit and all starts
--             are as remembered, which is usual for renewals. A user's reply is an error if the user's key is not a hash.
--
-- Invariants: a socket keeps its first start, here or in its instance's memory. A new socket is younger than all others
-- of its user, even if the clock went back. Expired sockets do not count and are removed. The key expires with its last
-- lease, so its existence means that the user is online. It is safe to repeat the script.
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local lease = tonumber(ARGV[1])
local till = string.format('%.0f', math.floor(now / 1000) + lease)
local most = tonumber(ARGV[2])

-- enter enters the sockets of one user: the pairs in ARGV from index `from` to index `to`.
local function enter(key, from, to)
  local age, newest = {}, 0
  local kept = redis.pcall('HGETALL', key)
  if kept.err then
    return kept -- the key holds another type; the other users are not affected
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
  reply[i] = enter(key, arg + 1, to)
  arg = to + 1
end
return reply
