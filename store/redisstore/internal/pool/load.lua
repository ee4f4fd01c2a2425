-- Load: merges the packet's state in SQL into its image. Where the two disagree about a user or a share, SQL wins.
-- Loads may come in any order and be repeated.
--
--   KEYS   1 due index, 2 outbox, 3 held, 4 image
--   ARGV   1 packet, 2 count, 3 deadline in ms, 4 status, 5 when the packet opens in ms (0: at once),
--          6 until when shares are held in ms (0: none), 7 for whom they are held: 'user share user share …'; then user, share, user, share … as in SQL
--   Reply  1
--
-- The image is a hash:
--
--   - user: the user's share
--   - #life: the replication id under which the image was loaded, a blank, and the status. In place of "open" it is
--     "wait", when the packet opens, and until when shares are held, until the first grant after both times
--   - #held: the users for whom shares are held, with their shares
--   - #count, #deadline
--   - #next: the lowest share from which on all shares are free. If some below are free, too, their number and spans
--     follow: "9 3 0-0,4-5"
--   - #retired: exists if SQL has closed the packet
--   - #table: exists if there are many shares. Redis keeps up to 512 short fields as a list, which each grab would
--     scan. One long field prevents that.
--
-- Invariants: the image has all users of SQL, and each of its own users whose share SQL has not given to another. The
-- first closing reason stays. The due date only gets earlier. A packet that SQL has closed leaves the index for ever,
-- and its image expires after an hour. Count and deadline are those of the first load. Memory grows with the claims,
-- not with the count.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local info = redis.call('INFO', 'replication')
local _, at = string.find(info, 'master_replid:', 1, true)
local generation = string.sub(info, at + 1, at + 40)
local flat = redis.call('HGETALL', KEYS[4])
local meta, held = {['#life'] = generation .. (now < math.max(ARGV[5], ARGV[6]) and ' wait ' .. ARGV[5] .. ' ' .. ARGV[6] or ' open'), ['#count'] = ARGV[2], ['#deadline'] = ARGV[3]}, {}
for i = 1, #flat, 2 do
  if string.byte(flat[i]) == 35 then -- '#': no user id begins with it
    meta[flat[i]] = flat[i + 1]
  else
    held[flat[i]] = flat[i + 1]
  end
end

local count, users, owner, taken, highest = tonumber(meta['#count']), {}, {}, 0, -1
local function take(user, share)
  if not users[user] and not owner[share] and 0 <= share and share < count then
    users[user], owner[share], taken, highest = share, user, taken + 1, math.max(highest, share)
  end
end
for i = 8, #ARGV, 2 do
  take(ARGV[i], tonumber(ARGV[i + 1]))
end
for user, share in pairs(held) do
  take(user, tonumber(share))
end

local holes, from = {}, nil
for share = 0, highest do
  if owner[share] and from then
    holes[#holes + 1] = from .. '-' .. share - 1
    from = nil
  elseif not owner[share] and not from then
    from = share
  end
end

local added, gone = {}, {}
for user, share in pairs(users) do
  if tonumber(held[user]) ~= share then
    added[#added + 1] = user
    added[#added + 1] = share
  end
end
for user in pairs(held) do
  if not users[user] then
    gone[#gone + 1] = user
  end
end

local free = string.format('%d', highest + 1)
if #holes > 0 then
  free = string.format('%d %d %s', highest + 1, highest + 1 - taken, table.concat(holes, ','))
end

local status, ended = string.sub(meta['#life'], 42), ARGV[4] ~= 'open'
local open = status == 'open' or string.sub(status, 1, 4) == 'wait'
if ended and open then
  status, open = ARGV[4], false
end

if ended then
  redis.call('HDEL', KEYS[4], '#') -- the first write needs no memory: see close.lua
end
redis.call('HSET', KEYS[4], '#life', generation .. ' ' .. status, '#count', meta['#count'], '#deadline', meta['#deadline'],
  '#next', free)
if ARGV[7] ~= '' and not meta['#held'] then
  redis.call('HSET', KEYS[4], '#held', ARGV[7])
end
if #flat == 0 and count > 128 then
  redis.call('HSET', KEYS[4], '#table', string.rep('.', 65))
end
for i = 1, #added, 1000 do -- unpack is limited
  redis.call('HSET', KEYS[4], unpack(added, i, math.min(i + 999, #added)))
end
for i = 1, #gone, 1000 do
  redis.call('HDEL', KEYS[4], unpack(gone, i, math.min(i + 999, #gone)))
end
if ended then
  redis.call('HSET', KEYS[4], '#retired', 1)
  redis.call('PEXPIRE', KEYS[4], 3600000)
  redis.call('ZREM', KEYS[1], ARGV[1])
elseif not meta['#retired'] then
  redis.call('ZADD', KEYS[1], 'NX', meta['#deadline'], ARGV[1])
  if not open or taken == count then
    redis.call('ZADD', KEYS[1], 'LT', string.format('%.0f', now + 2000), ARGV[1])
  end
end
-- The partition's keys must exist while its slot moves, even if they are empty.
redis.call('ZADD', KEYS[1], 'NX', '+inf', '#')
redis.call('ZADD', KEYS[2], 'NX', '+inf', '#' .. string.rep('.', 64)) -- so long that Redis does not keep the set as a list
redis.call('INCRBY', KEYS[3], 0)
return 1
