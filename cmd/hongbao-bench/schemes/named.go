package schemes

import "github.com/redis/go-redis/v9"

// Engines are the connections of one process that runs a scheme.
type Engines struct {
	Redis    redis.UniversalClient
	RedisURL string // of the same server, for schemes that open connections by themselves
	DB       *Database
}

// Named is a scheme with its description.
type Named struct {
	Name    string
	From    string // its publication
	Decides string // how a grab is decided
	Stores  string // when and by which part it is stored
	Make    func(e Engines) (Scheme, error)
}

// named returns the Named of a scheme whose constructor cannot fail.
func named[S Scheme](name, from, decides, stores string, create func(e Engines) S) Named {
	return Named{Name: name, From: from, Decides: decides, Stores: stores, Make: func(e Engines) (Scheme, error) { return create(e), nil }}
}

// All returns the published schemes.
func All() []Named {
	return []Named{
		named("lua-split", "article 1", "one script draws from the rest", "queue in the process, one consumer",
			func(e Engines) *LuaSplit { return NewLuaSplit(e.Redis, e.DB) }),
		named("lua-list", "article 2", "one script pops a share cut before", "list in Redis, one thread in batches",
			func(e Engines) *LuaList { return NewLuaList(e.Redis, e.DB) }),
		named("lock", "article 3", "a lock in Redis, then SQL", "in the request, in the lock",
			func(e Engines) *Lock { return NewLock(e.Redis, e.DB, lockLease) }),
		named("optimistic", "article 3", "a version on the packet's row", "in the request",
			func(e Engines) *Optimistic { return NewOptimistic(e.DB) }),
		named("pessimistic", "article 3", "select for update of the packet's row", "in the request",
			func(e Engines) *Pessimistic { return NewPessimistic(e.DB) }),
		named("prealloc", "article 3", "a version on the row of a random share", "in the request",
			func(e Engines) *Prealloc { return NewPrealloc(e.DB) }),
		named("redis-queue", "article 3", "pops a share from a list in Redis", "in the request, after the pop",
			func(e Engines) *RedisQueue { return NewRedisQueue(e.Redis, e.DB) }),
		named("redis-queue-async", "article 3", "pops a share from a list in Redis", "second list in Redis, one consumer, recovery",
			func(e Engines) *RedisQueueAsync { return NewRedisQueueAsync(e.Redis, e.DB) }),
	}
}
