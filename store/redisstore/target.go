package redisstore

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// Setting is the name of the setting that holds the URL. Errors contain the name and never the URL, because it may hold
// a password.
const Setting = "HONGBAO_REDIS_URL"

// kind is the kind of a Redis installation.
type kind string

// Kinds: each is the text after the + in the URL's scheme.
const (
	standalone kind = ""
	sentinel   kind = "sentinel"
	cluster    kind = "cluster"
)

// target is the decoded URL of a Redis installation.
type target struct {
	kind           kind
	secure         bool
	addrs          []string
	master         string // name of the master, behind sentinels
	db             int
	user, password string
	// sentinels often ask for credentials of their own
	sentinelUser, sentinelPassword string
}

// parse parses these URLs, each also with rediss for TLS:
//
//   - redis://[user:password@]host[:port][/db]
//   - redis+sentinel://[user:password@]host[:port],…/master[?db=n&sentinel_user=…&sentinel_password=…]
//   - redis+cluster://[user:password@]host[:port],…
//
// It does not use url.Parse, which does not accept several hosts.
func parse(raw string) (target, error) {
	t, err := read(raw)
	if err != nil {
		return target{}, fmt.Errorf("%s: %w", Setting, err)
	}
	return t, nil
}

func read(raw string) (t target, err error) {
	scheme, rest, ok := strings.Cut(raw, "://")
	base, second, _ := strings.Cut(scheme, "+")
	t.kind, t.secure = kind(second), base == "rediss"
	if !ok || base != "redis" && base != "rediss" || t.kind != standalone && t.kind != sentinel && t.kind != cluster ||
		strings.HasSuffix(scheme, "+") {
		return t, errors.New("must begin with redis://, redis+sentinel:// or redis+cluster:// (rediss for TLS)")
	}
	rest, query, _ := strings.Cut(rest, "?")
	authority, path, _ := strings.Cut(rest, "/")
	hosts := authority
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		hosts = authority[at+1:]
		if err := t.readCredentials(authority[:at]); err != nil {
			return t, err
		}
	}
	if err := t.readHosts(hosts); err != nil {
		return t, err
	}
	if err := t.readPath(path); err != nil {
		return t, err
	}
	return t, t.readQuery(query)
}

func (t *target) readCredentials(s string) (err error) {
	user, password, _ := strings.Cut(s, ":")
	if t.user, err = url.PathUnescape(user); err != nil {
		return errors.New("the user name is not percent-encoded properly")
	}
	if t.password, err = url.PathUnescape(password); err != nil {
		return errors.New("the password is not percent-encoded properly")
	}
	return nil
}

func (t *target) readHosts(s string) error {
	port := map[kind]string{sentinel: "26379"}[t.kind]
	if port == "" {
		port = "6379"
	}
	for i, hostPort := range strings.Split(s, ",") {
		addr, err := address(hostPort, port)
		if err != nil {
			// The error does not quote the address: with an unescaped / or @ in a password, it may hold a part of the password.
			return fmt.Errorf("address %d is not a host:port (characters like / @ ? in a password must be percent-encoded)", i+1)
		}
		t.addrs = append(t.addrs, addr)
	}
	if t.kind == standalone && len(t.addrs) > 1 {
		return errors.New("redis:// takes one host; for several use redis+sentinel:// or redis+cluster://")
	}
	return nil
}

// address checks host[:port] and returns host:port, with the given default port if there is none.
func address(s, port string) (string, error) {
	host := s
	if strings.LastIndexByte(s, ':') > strings.LastIndexByte(s, ']') {
		var err error
		if host, port, err = net.SplitHostPort(s); err != nil {
			return "", err
		}
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", errors.New("bad port")
	}
	if host == "" || strings.ContainsAny(host, " /@") {
		return "", errors.New("bad host")
	}
	return net.JoinHostPort(host, port), nil
}

func (t *target) readPath(path string) (err error) {
	switch {
	case t.kind == sentinel && (path == "" || strings.Contains(path, "/")):
		return errors.New("redis+sentinel:// must end with the name of the master: redis+sentinel://host:26379/mymaster")
	case t.kind == sentinel:
		t.master, err = url.PathUnescape(path)
		return err
	case path == "":
		return nil
	case t.kind == cluster:
		return errors.New("a cluster has no databases: nothing may follow the hosts")
	default:
		return t.readDB(path)
	}
}

func (t *target) readDB(s string) error {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return errors.New("the database must be a number")
	}
	t.db = int(n)
	return nil
}

func (t *target) readQuery(query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return errors.New("what follows the ? is not percent-encoded properly")
	}
	for name := range values {
		value := values.Get(name)
		switch {
		case t.kind == sentinel && name == "db":
			if err := t.readDB(value); err != nil {
				return err
			}
		case t.kind == sentinel && name == "sentinel_user":
			t.sentinelUser = value
		case t.kind == sentinel && name == "sentinel_password":
			t.sentinelPassword = value
		default:
			return fmt.Errorf("unknown parameter %q", name)
		}
	}
	return nil
}
