package e2e

import (
	"net/url"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"hongbao/store/loopback"
)

// Cluster is several servers over one Redis and one Postgres, behind a load balancer. The servers have only the rights of
// web/docs/deploy in both, and do not migrate. Audits read as hongbao_reader. See StartUnrestricted for the exception.
type Cluster struct {
	Redis    *loopback.Redis
	Servers  []*Server
	Balancer *Balancer

	t         *testing.T
	binary    string
	variables []string // of each server
	audits    []string // variables of `hongbao audit`
}

// GuestKey signs the tokens of guests of all instances.
const GuestKey = "6f6e65206b657920666f7220616c6c20696e7374616e6365732c206d75737421"

// StartCluster starts one server for each list of variables. A list is added to the variables that all servers share. The URL
// of the database must be that of a superuser. If Redis is down, RestrictRedis must have been called before.
func StartCluster(t *testing.T, binary string, redis *loopback.Redis, database string, each ...[]string) *Cluster {
	t.Helper()
	SplitRoles(t, binary, database)
	if RedisClient(t, redis).Ping(t.Context()).Err() == nil {
		RestrictRedis(t, redis)
	}
	return startCluster(t, binary, redis, []string{
		"HONGBAO_REDIS_URL=" + RedisURL(redis.Addr()), "HONGBAO_DATABASE_URL=" + As(t, database, "hongbao"), "HONGBAO_MIGRATE=check",
	}, As(t, database, "hongbao_reader"), each)
}

// StartUnrestricted is StartCluster, but the servers have all rights and migrate, as where nobody has separated the roles.
func StartUnrestricted(t *testing.T, binary string, redis *loopback.Redis, database string, each ...[]string) *Cluster {
	t.Helper()
	return startCluster(t, binary, redis, []string{"HONGBAO_REDIS_URL=" + redis.URL(), "HONGBAO_DATABASE_URL=" + database}, database, each)
}

func startCluster(t *testing.T, binary string, redis *loopback.Redis, variables []string, audited string, each [][]string) *Cluster {
	t.Helper()
	variables = append(variables, "HONGBAO_GUESTS=local", "HONGBAO_GUEST_KEY="+GuestKey)
	c := &Cluster{t: t, binary: binary, Redis: redis, Balancer: StartBalancer(t), variables: variables}
	c.audits = append(slices.Clone(variables), "HONGBAO_DATABASE_URL="+audited)
	c.Front().binary, c.Front().variables = binary, c.audits
	for _, own := range each {
		c.Add(own...)
	}
	return c
}

// Three returns the variables of three servers that do not differ.
func Three() [][]string { return make([][]string, 3) }

// Add starts one more server. Of two variables with one name the last counts.
func (c *Cluster) Add(own ...string) *Server {
	c.t.Helper()
	s := Start(c.t, c.binary, "", "127.0.0.1:0", append(append([]string{}, c.variables...), own...)...)
	c.Servers = append(c.Servers, s)
	c.Balancer.Add(s)
	return s
}

// Front is the cluster as clients see it: connections go to any of its servers. Audits read its database.
func (c *Cluster) Front() *Server { return c.Balancer.Front }

// Behind is the cluster as clients see it through a load balancer of another kind, at this address.
func (c *Cluster) Behind(addr string) *Server {
	return &Server{t: c.t, binary: c.binary, variables: c.audits, URL: &url.URL{Scheme: "http", Host: addr, Path: "/"}}
}

// RedisClient returns a client of the test's own, which is closed when the test ends.
func RedisClient(t *testing.T, r *loopback.Redis) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: r.Addr()})
	t.Cleanup(func() { _ = c.Close() })
	return c
}
