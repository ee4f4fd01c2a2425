package main

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"time"

	"hongbao/chat"
	"hongbao/store"
	"hongbao/store/eventlog"
	"hongbao/store/security"
	"hongbao/web/user/api"
)

// checkServe returns an error if the settings are unsafe or useless for serving. It also chooses values for empty settings
// whose default depends on other settings.
func (c *config) checkServe() error {
	if err := c.checkKeys(); err != nil {
		return err
	}
	if err := c.checkEngines(); err != nil {
		return err
	}
	if err := c.checkTLS(); err != nil {
		return err
	}
	local, err := isLocal(c.Addr)
	if err != nil {
		return fmt.Errorf("HONGBAO_ADDR: %w", err)
	}
	if err := errors.Join(c.checkOps(), c.checkHost()); err != nil {
		return err
	}
	if c.Guests == guestsAuto {
		c.Guests = guestsOff
		if local && c.tokens() == "" && !c.scaled() {
			c.Guests = guestsLocal
		}
	}
	if c.scaled() {
		c.DrainDelay.or(5 * time.Second)
		c.Drain.or(20 * time.Second)
	} else {
		c.Drain.or(time.Second)
	}
	if !c.GuestCredit.given && c.tokens() == "" {
		c.GuestCredit.amount = playMoney
	}
	playing := c.Guests != guestsOff && c.GuestCredit.amount > 0
	if c.Lobby == "" && playing && !c.scaled() {
		c.Lobby = "on"
	}
	switch {
	case c.GuestCredit.amount > 0 && c.tokens() != "":
		return fmt.Errorf("HONGBAO_GUEST_CREDIT=%d does not go with %s: guests would send their play money to your users as if it were real; "+
			"leave HONGBAO_GUEST_CREDIT out", c.GuestCredit.amount, c.tokens())
	case c.Lobby == "on" && !playing:
		return errors.New("HONGBAO_LOBBY=on needs guests with play money: its welcome packets hold play money; leave HONGBAO_LOBBY out")
	case c.scaled() && c.Guests == guestsOff && c.tokens() == "":
		return errors.New("with HONGBAO_DATABASE_URL every instance must believe the same tokens: set HONGBAO_JWT_SECRET to the secret " +
			"that yours are signed with (`openssl rand -hex 32` prints a new one), or HONGBAO_JWT_PUBLIC_KEY or HONGBAO_JWT_JWKS_URL")
	case c.Guests == guestsLocal && !local:
		return fmt.Errorf("HONGBAO_GUESTS=local does not go with HONGBAO_ADDR=%s, which others can reach: "+
			"listen on 127.0.0.1, or say HONGBAO_GUESTS=public if anyone may come in", c.Addr)
	case c.scaled() && c.Guests != guestsOff && c.GuestKey == "":
		return fmt.Errorf("HONGBAO_GUESTS=%s with HONGBAO_DATABASE_URL: every instance must sign guests in with the same key: "+
			"set HONGBAO_GUEST_KEY_FILE to a file with a secret (`openssl rand -hex 32` prints one)", c.Guests)
	case c.Guests == guestsOff && c.tokens() == "":
		return errors.New("nobody could sign in: set HONGBAO_JWT_SECRET to the secret your tokens are signed with " +
			"(or HONGBAO_JWT_PUBLIC_KEY, HONGBAO_JWT_JWKS_URL), or HONGBAO_GUESTS=public if anyone who reaches HONGBAO_ADDR may come in as a guest")
	}
	return c.checkRanges()
}

// checkOps checks the settings of the operators' listener.
func (c *config) checkOps() error {
	local, err := isLocal(c.OpsAddr)
	switch {
	case err != nil:
		return fmt.Errorf("HONGBAO_OPS_ADDR: %w", err)
	case sameAddress(c.Addr, c.OpsAddr):
		return fmt.Errorf("HONGBAO_OPS_ADDR=%s has the port of HONGBAO_ADDR=%s: each needs its own", c.OpsAddr, c.Addr)
	case !local && c.OpsToken == "":
		return fmt.Errorf("HONGBAO_OPS_ADDR=%s lets others read metrics: set HONGBAO_OPS_TOKEN_FILE to a file with a secret that they must "+
			"send (`openssl rand -hex 32` prints one), or listen on 127.0.0.1", c.OpsAddr)
	}
	return nil
}

// contactForm matches the operator's contact in a form that push services accept: an https:// page or a mail address.
var contactForm = regexp.MustCompile(`^(https://[^\s/]+\S*|(mailto:)?[^\s@:/]+@[^\s@:/]+\.[^\s@:/]+)$`)

// checkHost checks the settings of the server API, of the hooks, of the event stream and of Web Push.
func (c *config) checkHost() error {
	if _, err := isLocal(c.APIAddr); err != nil {
		return fmt.Errorf("HONGBAO_API_ADDR: %w", err)
	}
	for name, other := range map[string]string{"HONGBAO_ADDR": c.Addr, "HONGBAO_OPS_ADDR": c.OpsAddr} {
		if c.APIKeysFile != "" && sameAddress(other, c.APIAddr) {
			return fmt.Errorf("HONGBAO_API_ADDR=%s has the port of %s=%s: each needs its own", c.APIAddr, name, other)
		}
	}
	if err := c.checkHook(); err != nil {
		return err
	}
	switch {
	case c.WebhookURL != "" && len(c.Events.Kinds) == 0:
		return errors.New("HONGBAO_WEBHOOK_URL has no events to deliver: set HONGBAO_EVENTS to their kinds, such as message.*,packet.*")
	case c.PushContact != "" && !contactForm.MatchString(c.PushContact):
		return fmt.Errorf("HONGBAO_PUSH_CONTACT=%s is neither a mail address nor https://…: push services must be able to reach you", c.PushContact)
	case c.PushContact == "" && c.PushKey != "":
		return errors.New("HONGBAO_PUSH_KEY does nothing without HONGBAO_PUSH_CONTACT: set it to your mail address, or unset the key")
	case c.PushContact != "" && c.PushKey == "" && c.scaled():
		return errors.New("HONGBAO_PUSH_CONTACT with HONGBAO_DATABASE_URL: every instance must have the same key: set HONGBAO_PUSH_KEY_FILE to a file " +
			"with a secret (`openssl rand -base64 32 | tr +/ -_ | tr -d =` prints one)")
	case c.ActsKeep != 0 && c.ActsKeep < security.LeastKept || c.ActsKeep > chat.MostKeptDays:
		return fmt.Errorf("HONGBAO_ACTS_KEEP=%d is no number of days from %d to %d; 0 keeps acts for ever", c.ActsKeep, security.LeastKept, chat.MostKeptDays)
	case c.EventsKeep < time.Hour:
		return fmt.Errorf("HONGBAO_EVENTS_KEEP=%s is too short, need at least 1h", c.EventsKeep)
	case c.EventsMost < 1000:
		return fmt.Errorf("HONGBAO_EVENTS_MOST=%d is too few, need at least 1000", c.EventsMost)
	}
	return nil
}

// checkHook checks the settings of the hooks before commands.
func (c *config) checkHook() error {
	for _, command := range c.Hooks {
		if !slices.Contains(api.Hookable(), command) {
			return fmt.Errorf("HONGBAO_HOOKS: there is no hook before %q, only before %s", command, strings.Join(api.Hookable(), ", "))
		}
	}
	funds := c.HookFund == "on"
	switch {
	case c.HookURL == "" && len(c.Hooks) > 0:
		return errors.New("HONGBAO_HOOKS has nobody to ask: set HONGBAO_HOOK_URL and HONGBAO_HOOK_SECRETS")
	case c.HookURL != "" && len(c.Hooks) == 0:
		return errors.New("HONGBAO_HOOK_URL is asked about nothing: set HONGBAO_HOOKS to the commands, such as send,send_packet")
	case c.HookTimeout < 10*time.Millisecond || c.HookTimeout > 5*time.Second:
		return fmt.Errorf("HONGBAO_HOOK_TIMEOUT=%s: 10ms to 5s", c.HookTimeout)
	case funds && !slices.Contains(c.Hooks, "send_packet"):
		return errors.New("HONGBAO_HOOK_FUND=on needs the hook before send_packet: add it to HONGBAO_HOOKS")
	case funds && !c.Events.Kinds[eventlog.TransferReversed]:
		return errors.New("HONGBAO_HOOK_FUND=on without the event transfer.reversed: your ledger would not hear of packets that were refused; add transfer.* to HONGBAO_EVENTS")
	}
	_, err := newHooks(*c, nil)
	return err
}

// checkEngines returns an error if only one of Redis and Postgres is set.
func (c *config) checkEngines() error {
	switch {
	case c.RedisURL != "" && c.DatabaseURL == "":
		return errors.New("HONGBAO_REDIS_URL without HONGBAO_DATABASE_URL: Redis decides who is first and may forget it all, the truth " +
			"needs a Postgres that all instances share; set both, or neither to run embedded")
	case c.RedisURL == "" && c.DatabaseURL != "":
		return errors.New("HONGBAO_DATABASE_URL without HONGBAO_REDIS_URL: two instances on one database could not hear each other; " +
			"set both, or neither to run embedded")
	}
	return nil
}

// checkTLS returns an error if the settings of TLS do not go together.
func (c *config) checkTLS() error {
	switch {
	case (c.TLSCertFile == "") != (c.TLSKeyFile == ""):
		return errors.New("HONGBAO_TLS_CERT_FILE and HONGBAO_TLS_KEY_FILE go together: set both, or neither")
	case c.TLSCertFile != "" && len(c.ACMEHosts) > 0:
		return errors.New("HONGBAO_TLS_CERT_FILE and HONGBAO_ACME_HOSTS are both set: keep one")
	case len(c.ACMEHosts) > 0 && c.scaled():
		return errors.New("HONGBAO_ACME_HOSTS with HONGBAO_DATABASE_URL: every instance would order certificates of its own; " +
			"end TLS at the load balancer, or give all instances the same HONGBAO_TLS_CERT_FILE and HONGBAO_TLS_KEY_FILE")
	}
	return nil
}

// usesTLS reports whether the clients' listener takes TLS. A load balancer may end TLS before it.
func (c *config) usesTLS() bool { return c.TLSCertFile != "" || len(c.ACMEHosts) > 0 }

// scaled reports whether there may be other instances.
func (c *config) scaled() bool { return c.engines().Scaled() }

// engines returns the settings of the engines.
func (c *config) engines() store.Config {
	return store.Config{DataDir: c.DataDir, RedisURL: c.RedisURL, DatabaseURL: c.DatabaseURL, DataKeyFile: c.DataKeyFile, Migrate: c.Migrate, Events: c.Events.Kinds,
		Files: store.FilesConfig{Address: c.Files, AccessKey: c.FilesKey, SecretKey: c.FilesSecret}}
}

const (
	// minReplyBytes is the smallest HONGBAO_MAX_REPLY_BYTES. It is enough for the longest replies of a few clients.
	minReplyBytes = 16 << 20

	playMoney = 100_000   // of a new guest, in minor units
	maxAmount = 1<<53 - 1 // the largest integer that is exact in JSON of every client
	maxCount  = 100_000   // the shares of a packet are stored in one row
)

func (c *config) checkRanges() error {
	switch {
	case c.GuestCredit.amount > maxAmount:
		return fmt.Errorf("HONGBAO_GUEST_CREDIT: at most %d", maxAmount)
	case c.MaxReplyBytes < minReplyBytes:
		return fmt.Errorf("HONGBAO_MAX_REPLY_BYTES: at least %d", minReplyBytes)
	case c.MaxPacketTotal < 1 || c.MaxPacketTotal > maxAmount:
		return fmt.Errorf("HONGBAO_MAX_PACKET_TOTAL: 1 to %d", maxAmount)
	case c.PublicRooms < 1 || c.PublicRooms > 1_000_000_000:
		return errors.New("HONGBAO_PUBLIC_ROOMS: 1 to 1000000000")
	case c.MaxPacketCount < 1 || c.MaxPacketCount > maxCount:
		return fmt.Errorf("HONGBAO_MAX_PACKET_COUNT: 1 to %d", maxCount)
	case c.MaxOpenPackets < 0 || c.MaxOpenPackets > 1_000_000_000:
		return errors.New("HONGBAO_MAX_OPEN_PACKETS: 0 to 1000000000")
	case c.DayOffset < -12*time.Hour || c.DayOffset > 14*time.Hour:
		return errors.New("HONGBAO_DAY_OFFSET: -12h to 14h")
	case c.AuditEvery < 0:
		return errors.New("HONGBAO_AUDIT_EVERY: 0 or longer")
	}
	return nil
}

// sameAddress reports whether two listeners cannot have the addresses at the same time. Port 0 is any free port. It looks up no
// names, so it takes localhost and 127.0.0.1 for different hosts.
func sameAddress(a, b string) bool {
	hostA, portA, _ := net.SplitHostPort(a)
	hostB, portB, _ := net.SplitHostPort(b)
	anyHost := func(host string) bool { return host == "" || net.ParseIP(host).IsUnspecified() }
	return portA == portB && portA != "0" && (hostA == hostB || anyHost(hostA) || anyHost(hostB))
}

// isLocal reports whether only this machine can reach the address: its host is localhost or a loopback address.
func isLocal(addr string) (bool, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false, fmt.Errorf("%q is not host:port", addr)
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback(), nil
}
