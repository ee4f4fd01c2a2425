package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/eventlog"
	"hongbao/web"
	"hongbao/web/user/api"
)

// guestMode says which clients may sign in without a token.
type guestMode string

// The modes of guests. checkServe decides what the empty one means.
const (
	guestsAuto   guestMode = ""
	guestsOff    guestMode = "off"
	guestsLocal  guestMode = "local"
	guestsPublic guestMode = "public"
)

// UnmarshalText implements encoding.TextUnmarshaler.
func (g *guestMode) UnmarshalText(text []byte) error {
	switch m := guestMode(text); m {
	case guestsAuto, guestsOff, guestsLocal, guestsPublic:
		*g = m
		return nil
	}
	return fmt.Errorf("%q is none of off, local, public", text)
}

// onOff is a setting with the values "on" and "off". It is "" if it is not set and has no default.
type onOff string

// UnmarshalText implements encoding.TextUnmarshaler.
func (o *onOff) UnmarshalText(text []byte) error {
	switch m := onOff(text); m {
	case "on", "off":
		*o = m
		return nil
	}
	return fmt.Errorf("%q is none of on, off", text)
}

// needs are the parts without which /readyz answers 503.
type needs []string

// The parts that can be needed.
const (
	needDatabase = "database"
	needRedis    = "redis"
	needClocks   = "clocks"
)

// UnmarshalText implements encoding.TextUnmarshaler: "database, redis".
func (n *needs) UnmarshalText(text []byte) error {
	return parseList(n, text, func(part string) (string, bool) {
		return part, part == needDatabase || part == needRedis || part == needClocks
	}, "none of database, redis, clocks")
}

// grace is a duration of the stop. If the setting is empty, given is false and checkServe chooses the duration.
type grace struct {
	given bool
	time.Duration
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (g *grace) UnmarshalText(text []byte) error {
	d, err := parseDuration(string(text))
	*g = grace{given: true, Duration: d}
	return err
}

// or sets the duration if the setting is empty.
func (g *grace) or(d time.Duration) {
	if !g.given {
		g.Duration = d
	}
}

// parseDuration parses a duration of 0 or more.
func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a duration such as 20s or 1m30s", text)
	}
	return d, nil
}

// credit is an amount of money. If the setting is empty, given is false and checkServe chooses the amount.
type credit struct {
	given  bool
	amount int64
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *credit) UnmarshalText(text []byte) error {
	n, err := parseWhole(string(text))
	*c = credit{given: true, amount: n}
	return err
}

// dayLimit is a setting of a limit per user and day: off, own, or a number.
type dayLimit struct{ redpacket.Limit }

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *dayLimit) UnmarshalText(text []byte) error {
	switch string(text) {
	case "off":
		l.Limit = redpacket.Limit{}
		return nil
	case "own":
		l.Limit = redpacket.Limit{On: true, Usual: redpacket.NoLimit}
		return nil
	}
	n, err := parseWhole(string(text))
	if err != nil || n > maxAmount {
		return fmt.Errorf("%q is not off, own, or a whole number of at most %d", text, maxAmount)
	}
	l.Limit = redpacket.Limit{On: true, Usual: n}
	return nil
}

// dayLimits returns the limits per user and day.
func (c *config) dayLimits() redpacket.DayLimits {
	return redpacket.DayLimits{Sent: c.DaySent.Limit, Received: c.DayReceived.Limit, Packets: c.DayPackets.Limit, Offset: c.DayOffset}
}

// parseWhole parses a whole number of 0 or more.
func parseWhole(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is not a whole number of 0 or more", text)
	}
	return n, nil
}

// contactRate is three numbers of calls a minute, separated by commas: for a user; for the guests of an address; and for all
// guests together, which is also the number for all other users together.
type contactRate web.ContactRate

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *contactRate) UnmarshalText(text []byte) error {
	parts := strings.Split(string(text), ",")
	if len(parts) != 3 {
		return fmt.Errorf("%q is not three numbers such as 30,300,3000", text)
	}
	for i, into := range []*int{&r.PerUser, &r.PerAddress, &r.InAll} {
		n, err := strconv.Atoi(strings.TrimSpace(parts[i]))
		if err != nil || n < 0 || n > maxContactRate {
			return fmt.Errorf("%q is not a whole number from 0 to %d", parts[i], maxContactRate)
		}
		*into = n
	}
	return nil
}

// maxContactRate is the largest number that is accepted. No server reaches so many calls a minute.
const maxContactRate = 1_000_000_000

// keyFile is the content of a file. The setting is the name of the file.
type keyFile []byte

// UnmarshalText implements encoding.TextUnmarshaler. It reads the file with this name.
func (k *keyFile) UnmarshalText(name []byte) error {
	content, err := os.ReadFile(string(name))
	switch {
	case err != nil:
		return err
	case len(bytes.TrimSpace(content)) == 0:
		return fmt.Errorf("%s is empty", name)
	}
	*k = content
	return nil
}

// parseList parses the parts between commas into list and skips empty ones. If parse rejects a part, the list stays as it was. Then
// the error names the part and ends with the argument otherwise.
func parseList[List ~[]T, T any](list *List, text []byte, parse func(string) (T, bool), otherwise string) error {
	var parsed List
	for part := range strings.SplitSeq(string(text), ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		it, ok := parse(part)
		if !ok {
			return fmt.Errorf("%q is %s", part, otherwise)
		}
		parsed = append(parsed, it)
	}
	*list = parsed
	return nil
}

// addresses are networks. A single address is a network that has only this address.
type addresses []netip.Prefix

// UnmarshalText implements encoding.TextUnmarshaler: "10.0.0.1, 10.1.0.0/16, fd00::/8".
func (a *addresses) UnmarshalText(text []byte) error {
	return parseList(a, text, parseNetwork, "neither an address nor a network, such as 10.0.0.0/8")
}

// parseNetwork parses a network or a single address.
func parseNetwork(text string) (network netip.Prefix, ok bool) {
	if ip, err := netip.ParseAddr(text); err == nil && ip.Zone() == "" {
		return netip.PrefixFrom(ip.Unmap(), ip.Unmap().BitLen()), true
	}
	network, err := netip.ParsePrefix(text)
	return network, err == nil && !network.Addr().Is4In6()
}

// origins are the origins of web pages, in the form in which browsers send them.
type origins []string

// UnmarshalText implements encoding.TextUnmarshaler: "https://shop.example.com, http://localhost:3000". It rejects text without the
// form of an origin, such as a URL with a path: no browser sends such an origin. It rejects "*", because the origins also go into
// the page's policy, where "*" would allow every page.
func (o *origins) UnmarshalText(text []byte) error {
	return parseList(o, text, parseOrigin, "not an origin such as https://shop.example.com or http://localhost:3000")
}

var originForm = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]+)?$`)

// parseOrigin returns the origin in lower case, without the default port of its scheme.
func parseOrigin(text string) (origin string, ok bool) {
	origin = strings.ToLower(strings.TrimSuffix(text, "/"))
	for scheme, port := range map[string]string{"http://": ":80", "https://": ":443"} {
		if strings.HasPrefix(origin, scheme) {
			origin = strings.TrimSuffix(origin, port)
		}
	}
	return origin, originForm.MatchString(origin)
}

// hosts are names of this server in the DNS.
type hosts []string

// UnmarshalText implements encoding.TextUnmarshaler: "chat.example.com, www.example.com".
func (h *hosts) UnmarshalText(text []byte) error {
	return parseList(h, text, func(part string) (string, bool) {
		host := strings.ToLower(part)
		return host, hostForm.MatchString(host)
	}, "not the name of a host such as chat.example.com")
}

var hostForm = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$`)

// names is a list of names.
type names []string

// UnmarshalText implements encoding.TextUnmarshaler: "admin, support". An empty text means no names.
func (n *names) UnmarshalText(text []byte) error {
	*n = nil
	if len(text) == 0 {
		return nil
	}
	for name := range strings.SplitSeq(string(text), ",") {
		if name = strings.TrimSpace(name); name == "" {
			return fmt.Errorf("%q has no name beside a comma", text)
		}
		*n = append(*n, name)
	}
	return nil
}

// logLevel is the least level of log lines that are written.
type logLevel slog.Level

// UnmarshalText implements encoding.TextUnmarshaler: "DEBUG", or "info".
func (l *logLevel) UnmarshalText(text []byte) error {
	if err := (*slog.Level)(l).UnmarshalText(text); err != nil {
		return fmt.Errorf("%q is none of DEBUG, INFO, WARN, ERROR", text)
	}
	return nil
}

// eventKinds are kinds of events.
type eventKinds struct{ eventlog.Kinds }

// UnmarshalText implements encoding.TextUnmarshaler: "message.*, packet.claimed". An empty text means no kinds.
func (k *eventKinds) UnmarshalText(text []byte) (err error) {
	var patterns names
	if err := patterns.UnmarshalText(text); err != nil {
		return err
	}
	k.Kinds, err = eventlog.ParseKinds(patterns)
	return err
}

// hookFail says, by command, whether the command is carried out if the host gives no answer about it.
type hookFail map[string]bool

// hookFailDefault are the commands that are carried out by default: those that move no money.
var hookFailDefault = hookFail{"send": true, "edit": true, "create_room": true, "invite": true}

// UnmarshalText implements encoding.TextUnmarshaler: "send:open, grab:closed". Commands that are not named keep their defaults.
func (f *hookFail) UnmarshalText(text []byte) error {
	set := maps.Clone(hookFailDefault)
	var parts names
	if err := parts.UnmarshalText(text); err != nil {
		return err
	}
	for _, part := range parts {
		command, mode, _ := strings.Cut(part, ":")
		if !slices.Contains(api.Hookable(), command) || mode != "open" && mode != "closed" {
			return fmt.Errorf("%q is not a command and open or closed, such as send:open; the commands are %s", part, strings.Join(api.Hookable(), ", "))
		}
		set[command] = mode == "open"
	}
	*f = set
	return nil
}

// open lists the commands that are carried out without an answer.
func (f hookFail) open() (commands []string) {
	for _, command := range api.Hookable() {
		if f[command] {
			commands = append(commands, command)
		}
	}
	return commands
}

// keptDays says for how many days texts are kept.
type keptDays chat.KeptDays

// UnmarshalText implements encoding.TextUnmarshaler: "365", or "public:30, direct:7". Kinds of rooms that are not named keep their texts for ever.
func (k *keptDays) UnmarshalText(text []byte) error {
	if n, err := parseKeptDays(string(text)); err == nil {
		*k = keptDays{n, n, n}
		return nil
	}
	*k = keptDays{}
	var parts names
	if err := parts.UnmarshalText(text); err != nil {
		return err
	}
	into := map[string]*int{"public": &k.Public, "private": &k.Private, "direct": &k.Direct}
	for _, part := range parts {
		kind, days, _ := strings.Cut(part, ":")
		n, err := parseKeptDays(days)
		if into[kind] == nil || err != nil {
			return fmt.Errorf("%q is no number of days from 0 to %d, and no kind of rooms (public, private, direct) with such a number, such as direct:30", part, chat.MostKeptDays)
		}
		*into[kind] = n
	}
	return nil
}

func parseKeptDays(text string) (int, error) {
	n, err := parseWhole(text)
	if err == nil && n > chat.MostKeptDays {
		err = fmt.Errorf("%d days are too many", n)
	}
	return int(n), err
}

// hours are hours of the day.
type hours chat.Hours

// UnmarshalText implements encoding.TextUnmarshaler: "22-5". An empty text means all hours.
func (h *hours) UnmarshalText(text []byte) error {
	*h = hours{}
	if len(text) == 0 {
		return nil
	}
	from, to, _ := strings.Cut(string(text), "-")
	first, err := parseWhole(from)
	last, err2 := parseWhole(to)
	if err != nil || err2 != nil || first > 23 || last > 24 || first == last {
		return fmt.Errorf("%q is not two hours of the day in UTC such as 22-5", text)
	}
	*h = hours{int(first), int(last)}
	return nil
}

// logFormat is the format of log lines.
type logFormat string

// UnmarshalText implements encoding.TextUnmarshaler.
func (f *logFormat) UnmarshalText(text []byte) error {
	switch m := logFormat(text); m {
	case "text", "json":
		*f = m
		return nil
	}
	return fmt.Errorf("%q is none of text, json", text)
}

// currency is the code of the money and its number of decimal places.
type currency struct {
	Code     string
	Exponent int
}

// UnmarshalText implements encoding.TextUnmarshaler: "CNY:2".
func (c *currency) UnmarshalText(text []byte) error {
	code, places, found := strings.Cut(string(text), ":")
	exponent, err := strconv.Atoi(places)
	if !found || err != nil || code == "" || len(code) > 12 || exponent < 0 || exponent > 6 {
		return fmt.Errorf("%q is not a code and 0 to 6 decimal places, such as CNY:2", text)
	}
	*c = currency{Code: code, Exponent: exponent}
	return nil
}

// format returns an amount of minor units with decimal places and code: 1234 of CNY:2 is "12.34 CNY".
func (c currency) format(amount int64) string {
	sign, digits := "", strconv.FormatInt(amount, 10)
	if amount < 0 {
		sign, digits = "-", digits[1:]
	}
	if short := c.Exponent + 1 - len(digits); short > 0 {
		digits = strings.Repeat("0", short) + digits
	}
	whole := len(digits) - c.Exponent
	if c.Exponent > 0 {
		digits = digits[:whole] + "." + digits[whole:]
	}
	return sign + digits + " " + c.Code
}
