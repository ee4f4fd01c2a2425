-- lock: gives the lock back, unless it is somebody else's by now.
-- KEYS  1 lock
-- ARGV  1 owner

if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
