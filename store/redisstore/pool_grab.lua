-- Grab: answers the askers of some packets of one partition, in order, and remembers the winners.
--
-- KEYS   1 due index, 2 outbox, 3 acks, from 4 the images of the packets
-- ARGV   1 how many claims the outbox may hold; then for each packet: its id, the number n of its askers, what is
--        held against them (a digit for each, 0 nothing, 1 not a member, 2 denied; empty: nothing against any),
--        and the n users
-- Reply  for each packet {} if it is missing, else {shares taken before, status, entry or '', n codes}:
--        code = decision + 16 * share; decision as redpacket.Decision numbers it, or 9: granted, and it was the last
--
-- Always: one entry for all winners of a packet, written before anything else; a share and a user once; lowest
-- share first; whoever has a share hears of it before any other check; the last share makes the packet due.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local generation = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
local room = tonumber(ARGV[1]) - tonumber(redis.call('HGET', KEYS[3], '#held') or 0)
local granted = 0

local function grab(image, id, n, against, first)
  local got = redis.call('HMGET', image, '#gen', '#status', '#count', '#deadline', '#taken', '#next', '#holes',
    unpack(ARGV, first, first + n - 1))
  if got[1] ~= generation then
    return {}
  end
  local status, count, late = got[2], tonumber(got[3]), now >= tonumber(got[4])
  local taken, after = tonumber(got[5]), tonumber(got[6])
  -- Free are: the spans "from-to" in holes, all below after; and after, after + 1 … count - 1.
  local from, to, holes = string.match(got[7], '^(%d+)-(%d+),?(.*)$')
  from, to, holes = tonumber(from), tonumber(to), holes or ''
  local reply, won, claims = {taken, status, ''}, {}, {}
  for i = 1, n do
    local user = ARGV[first + i - 1]
    local share = got[7 + i] or won[user]
    local may = against == '' and 48 or string.byte(against, i)
    local decision
    if share then
      decision = 1
    elseif may == 49 then
      decision = 2
    elseif status ~= 'open' then
      decision = 3
    elseif late then
      decision = 4
    elseif taken == count then
      decision = 5
    elseif may == 50 then
      decision = 6
    elseif room <= 0 then
      decision = 7
    else
      if not from then
        share, after = after, after + 1
      else
        share, from = from, from + 1
        if from > to then
          from, to, holes = string.match(holes, '^(%d+)-(%d+),?(.*)$')
          from, to, holes = tonumber(from), tonumber(to), holes or ''
        end
      end
      taken, room, granted = taken + 1, room - 1, granted + 1
      decision = taken == count and 9 or 8
      won[user] = share
      claims[#claims + 1] = user
      claims[#claims + 1] = share
    end
    reply[3 + i] = decision + 16 * (share or 0)
  end
  if #claims > 0 then
    if not from then
      holes = ''
    elseif holes == '' then
      holes = from .. '-' .. to
    else
      holes = from .. '-' .. to .. ',' .. holes
    end
    reply[3] = redis.call('XADD', KEYS[2], '*', 'packet', id, 'claims', table.concat(claims, ' '))
    redis.call('HSET', image, '#taken', taken, '#next', after, '#holes', holes, unpack(claims))
    if taken == count then
      redis.call('ZADD', KEYS[1], 'LT', string.format('%.0f', now + 2000), id)
    end
  end
  return reply
end

local replies, at = {}, 2
for k = 4, #KEYS do
  local n = tonumber(ARGV[at + 1])
  replies[k - 3] = grab(KEYS[k], ARGV[at], n, ARGV[at + 2], at + 3)
  at = at + 3 + n
end
if granted > 0 then
  redis.call('HINCRBY', KEYS[3], '#held', granted)
end
return replies
