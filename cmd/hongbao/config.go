package main

import (
	"bytes"
	"encoding"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"hongbao/redpacket/crashpoint"
)

// config holds every setting. A field's tags give its flag, its variable (HONGBAO_ and the flag's name in capitals), its line in
// `hongbao help` and its row in web/docs/settings.md. `for` names the subcommands that use it: no other one reads or checks it.
// `file:"true"` adds a twin setting, which names a file that holds the value.
type config struct {
	Addr           string        `flag:"addr" default:"127.0.0.1:8080" for:"serve" help:"where clients connect"`
	OpsAddr        string        `flag:"ops-addr" default:"127.0.0.1:8081" for:"serve" help:"the operator's listener: /healthz /readyz /metrics /debug/pprof"`
	DataDir        string        `flag:"data-dir" default:"./hongbao-data" for:"serve migrate audit credit restored" help:"folder of the embedded database; unused with HONGBAO_DATABASE_URL"`
	RedisURL       string        `flag:"redis-url" file:"true" for:"serve" help:"redis://, rediss://, redis+sentinel://host:port,host:port/master or redis+cluster://host:port,host:port; with the database it makes many instances one system"`
	DatabaseURL    string        `flag:"database-url" file:"true" for:"serve migrate audit credit restored" help:"postgres://…; instead of the embedded database"`
	JWTSecret      string        `flag:"jwt-secret" file:"true" for:"serve token" help:"HS256 secret of your tokens, at least 32 bytes"`
	JWTPublicKey   keyFile       `flag:"jwt-public-key" for:"serve" help:"file with the public key of your tokens, instead of a secret: PEM of RSA (RS256), P-256 (ES256) or Ed25519 (EdDSA)"`
	JWTJWKSURL     string        `flag:"jwt-jwks-url" for:"serve" help:"https://… of the public keys of your tokens (a JSON Web Key Set), instead of a secret; changes there are followed"`
	JWTIssuer      string        `flag:"jwt-issuer" for:"serve token" help:"iss that tokens must carry; empty: any"`
	JWTAudience    string        `flag:"jwt-audience" for:"serve token" help:"aud that tokens must carry; empty: any"`
	AllowedOrigins origins       `flag:"allowed-origins" for:"serve" help:"origins of web pages elsewhere that may connect, separated by commas"`
	TrustedProxies addresses     `flag:"trusted-proxies" for:"serve" help:"addresses and networks (10.0.0.0/8) of your load balancers, separated by commas: their X-Forwarded-For and X-Forwarded-Host are believed"`
	Guests         guestMode     `flag:"guests" for:"serve" help:"who may sign in without a token: off, local or public; empty: local when embedded on a loopback address without a JWT key, else off"`
	GuestCredit    int64         `flag:"guest-credit" default:"100000" for:"serve" help:"play money of a new guest, in minor units"`
	Currency       currency      `flag:"currency" default:"CNY:2" for:"serve audit credit" help:"code and number of decimal places"`
	Limits         limitsMode    `flag:"limits" default:"on" for:"serve" help:"rates of users, connections and new guests: on or off"`
	MaxPacketTotal int64         `flag:"max-packet-total" default:"20000000" for:"serve" help:"largest packet, in minor units"`
	MaxPacketCount int64         `flag:"max-packet-count" default:"10000" for:"serve" help:"most shares of a packet"`
	Drain          time.Duration `flag:"drain" default:"20s" for:"serve" help:"how long closing the sockets is spread over when the server stops"`
	LogLevel       slog.Level    `flag:"log-level" default:"INFO" for:"serve migrate audit credit restored" help:"DEBUG, INFO, WARN or ERROR"`
	LogFormat      logFormat     `flag:"log-format" default:"text" for:"serve migrate audit credit restored" help:"text or json"`
}

// setting is one field of a config, ready to be set from text.
type setting struct {
	flag     string
	env      string
	fallback string
	help     string
	commands []string
	fromFile bool
	field    reflect.Value
}

// settings lists the config's fields, in order, each file twin after its field.
func (c *config) settings() []setting {
	var list []setting
	value := reflect.ValueOf(c).Elem()
	for i := range value.NumField() {
		tag := value.Type().Field(i).Tag
		s := setting{
			flag:     tag.Get("flag"),
			fallback: tag.Get("default"),
			help:     tag.Get("help"),
			commands: strings.Fields(tag.Get("for")),
			field:    value.Field(i),
		}
		s.env = variable(s.flag)
		list = append(list, s)
		if tag.Get("file") == "true" {
			twin := s
			twin.flag += "-file"
			twin.env = variable(twin.flag)
			twin.help = "file that holds " + s.env
			twin.fromFile = true
			list = append(list, twin)
		}
	}
	return list
}

// fromKubernetes reports whether the variable is one that Kubernetes sets by itself in every pod of a namespace that
// has a Service named hongbao.
func fromKubernetes(name string) bool {
	return name == "HONGBAO_PORT" || strings.HasPrefix(name, "HONGBAO_PORT_") || strings.HasPrefix(name, "HONGBAO_SERVICE_")
}

// variable returns the environment variable of a flag.
func variable(flag string) string {
	return "HONGBAO_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// set parses text into the setting's field.
func (s setting) set(text string) error {
	if s.fromFile {
		content, err := os.ReadFile(text)
		switch {
		case err != nil:
			return err
		case len(bytes.TrimSpace(content)) == 0:
			return fmt.Errorf("%s is empty", text) // an empty file was probably not filled yet; it must not count as an absent setting
		}
		text = strings.TrimRight(string(content), "\r\n")
	}
	switch p := s.field.Addr().Interface().(type) {
	case encoding.TextUnmarshaler:
		return p.UnmarshalText([]byte(text))
	case *string:
		*p = text
	case *int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return fmt.Errorf("%q is not a whole number of 0 or more", text)
		}
		*p = n
	case *time.Duration:
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			return fmt.Errorf("%q is not a duration such as 20s or 1m30s", text)
		}
		*p = d
	default:
		return fmt.Errorf("no way to read a %T", p)
	}
	return nil
}

// load fills the config for one subcommand: first defaults, then the environment, then flags. It declares the flags on fs and
// parses them from args.
func (c *config) load(fs *flag.FlagSet, command string, args, environ []string) error {
	settings := c.settings()
	if err := c.fromEnvironment(settings, command, environ); err != nil {
		return err
	}
	for _, s := range settings {
		if slices.Contains(s.commands, command) {
			fs.Func(s.flag, s.help, s.set)
		}
	}
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	return nil
}

// fromEnvironment sets the settings that the command uses. An unknown HONGBAO_ variable is an error: a misspelt or unsupported
// setting must not look as if it worked. An empty variable counts as absent.
func (c *config) fromEnvironment(settings []setting, command string, environ []string) error {
	given := map[string]string{}
	for _, pair := range environ {
		if name, value, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "HONGBAO_") && value != "" {
			given[name] = value
		}
	}
	for _, s := range settings {
		value, ok := given[s.env]
		delete(given, s.env)
		source := s.env
		if !ok {
			value, source = s.fallback, "default of "+s.env
		}
		if value == "" || !slices.Contains(s.commands, command) || s.fromFile && !ok {
			continue
		}
		if s.fromFile && !s.field.IsZero() {
			return fmt.Errorf("%s and %s are both set: keep one", strings.TrimSuffix(s.env, "_FILE"), s.env)
		}
		if err := s.set(value); err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
	}
	for _, name := range crashpoint.Variables() {
		delete(given, name)
	}
	for name := range given {
		if !fromKubernetes(name) {
			return fmt.Errorf("%s is not a setting of this version: unset it, or see `hongbao help`", name)
		}
	}
	return nil
}
