package main

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"regexp"
	"strconv"
	"strings"
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

// limitsMode turns rates on or off.
type limitsMode string

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *limitsMode) UnmarshalText(text []byte) error {
	switch m := limitsMode(text); m {
	case "on", "off":
		*l = m
		return nil
	}
	return fmt.Errorf("%q is none of on, off", text)
}

// keyFile is the content of a file.
type keyFile []byte

// UnmarshalText implements encoding.TextUnmarshaler. It reads the file of the name.
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

// parseList parses the parts between commas. If parse rejects a part, the error names the part and ends with the text
// otherwise.
func parseList[T any](text string, parse func(string) (T, bool), otherwise string) (list []T, err error) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		it, ok := parse(part)
		if !ok {
			return nil, fmt.Errorf("%q is %s", part, otherwise)
		}
		list = append(list, it)
	}
	return list, nil
}

// addresses are networks; a single address is the smallest network.
type addresses []netip.Prefix

// UnmarshalText implements encoding.TextUnmarshaler: "10.0.0.1, 10.1.0.0/16, fd00::/8".
func (a *addresses) UnmarshalText(text []byte) error {
	list, err := parseList(string(text), parseNetwork, "neither an address nor a network, such as 10.0.0.0/8")
	if err == nil {
		*a = list
	}
	return err
}

// parseNetwork parses a network or a single address.
func parseNetwork(text string) (network netip.Prefix, ok bool) {
	if ip, err := netip.ParseAddr(text); err == nil && ip.Zone() == "" {
		return netip.PrefixFrom(ip.Unmap(), ip.Unmap().BitLen()), true
	}
	network, err := netip.ParsePrefix(text)
	return network, err == nil && !network.Addr().Is4In6()
}

// origins are those of web pages, as browsers name them.
type origins []string

// UnmarshalText implements encoding.TextUnmarshaler: "https://shop.example.com, http://localhost:3000". It rejects an origin that no
// browser sends, because no page could use it. It rejects "*", because the origins also go into the page's policy, where "*" would
// allow every page.
func (o *origins) UnmarshalText(text []byte) error {
	list, err := parseList(string(text), parseOrigin, "not an origin such as https://shop.example.com or http://localhost:3000")
	if err == nil {
		*o = list
	}
	return err
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
