package main

import (
	"fmt"
	"strconv"
	"strings"
)

// guestMode says who may sign in without a token of the host's.
type guestMode string

// The modes of guests; the empty one is decided by config.guests.
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

// limitsMode turns rates on or off. Who asks for what is not there must hear so.
type limitsMode string

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *limitsMode) UnmarshalText(text []byte) error {
	if string(text) != "off" {
		return fmt.Errorf("%q is not off, and rates per user are not built yet", text)
	}
	*l = limitsMode(text)
	return nil
}

// logFormat is how log lines look.
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

// currency is what money is called and how many decimal places people write.
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

// format writes an amount of minor units as people do: 1234 of CNY:2 is "12.34 CNY".
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
