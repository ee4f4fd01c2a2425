-- Unsettled: lists the claims that have been in a partition's outbox for at least a given age, oldest first, in whole
-- entries, page by page.
--
--   KEYS   1 outbox
--   ARGV   1 the age in ms, 2 the number of claims that fills a page, 3 the time after which the page begins, or '-inf'
--   Reply  the time after which the next page begins, or '' if there is none; and the entries, as the grab writes them
--
-- Invariant: all entries of one time are in one page. So the next page, which begins after that time, misses none. Ages are
-- in whole ms, as are all times outside of the outbox.
local time = redis.call('TIME')
local upTo = (time[1] * 1000 + math.floor(time[2] / 1000) - ARGV[1]) * 1000 + 999
local room, most = tonumber(ARGV[2]), tonumber(ARGV[2]) -- `most` entries fill a page: each has a claim or more
local found = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. ARGV[3], string.format('%.0f', upTo), 'WITHSCORES', 'LIMIT', 0, most)
local reply, last, same = {''}, nil, 0
for i = 1, #found, 2 do
  if found[i + 1] ~= last then
    if room <= 0 then
      reply[1] = last
      return reply
    end
    last, same = found[i + 1], 0
  end
  reply[#reply + 1] = found[i]
  room, same = room - (select(2, string.gsub(found[i], ' ', '')) - 1) / 2, same + 1
end
if #found == 2 * most then
  reply[1] = last
  for i, entry in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], last, last)) do
    if i > same then
      reply[#reply + 1] = entry
    end
  end
end
return reply
