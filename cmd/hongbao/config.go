package main

import (
	"bytes"
	"encoding"
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"hongbao/migrations"
	"hongbao/redpacket/crashpoint"
	"hongbao/web/ops/traces"
)

// config holds every setting. A field's tags give its flag, its variable (HONGBAO_ and the flag's name in capitals), its line in
// `hongbao help` and its line in web/docs/settings.md. `for` names the subcommands that use it: no other one reads or checks it,
// except doctor, which uses the settings of serve. The last two fields have no tags.
// `file:"true"` adds a twin setting, which names a file that holds the value. `secret:"value"` means that the value is a secret and
// has no flag: every process of the machine can read the command line. `secret:"password"` means that the value is a secret if it
// has a password; the flag refuses such a value.
type config struct {
	Addr           string          `flag:"addr" default:"127.0.0.1:8080" for:"serve" help:"where clients connect"`
	TLSCertFile    string          `flag:"tls-cert-file" for:"serve" help:"certificate of HONGBAO_ADDR, and of HONGBAO_API_ADDR unless that is loopback, with its chain (PEM file): clients then use TLS; a new file is used within 10 s"`
	TLSKeyFile     string          `flag:"tls-key-file" for:"serve" help:"key of the certificate (PEM file)"`
	ACMEHosts      hosts           `flag:"acme-hosts" for:"serve" help:"names for which the server gets certificates by ACME, and so accepts the authority's terms; embedded only"`
	ACMEURL        string          `flag:"acme-url" default:"https://acme-v02.api.letsencrypt.org/directory" for:"serve" help:"directory of the authority for HONGBAO_ACME_HOSTS"`
	OpsAddr        string          `flag:"ops-addr" default:"127.0.0.1:8081" for:"serve" help:"the operator's listener: /healthz /readyz /metrics; outside this machine it needs HONGBAO_OPS_TOKEN"`
	OpsToken       string          `flag:"ops-token" file:"true" secret:"value" for:"serve" help:"bearer token that opens the operator's listener, at least 32 bytes; empty: only this machine may read it"`
	APIAddr        string          `flag:"api-addr" default:"127.0.0.1:8082" for:"serve" help:"the listener of the server API; open only with HONGBAO_API_KEYS_FILE"`
	APIKeysFile    string          `flag:"api-keys-file" for:"serve apikey" help:"file with the keys of the server API, as apikey new writes them; a change is used within 3 s; empty: no server API"`
	Events         eventKinds      `flag:"events" for:"serve credit" help:"kinds of events that are written for the host: * for all, message.*, packet.claimed; empty: none"`
	EventsKeep     time.Duration   `flag:"events-keep" default:"168h" for:"serve" help:"how long events are kept"`
	EventsMost     int64           `flag:"events-most" default:"50000000" for:"serve" help:"most transactions whose events are kept"`
	WebhookURL     string          `flag:"webhook-url" for:"serve" help:"https://… to which each event is delivered, signed; empty: no webhook"`
	WebhookSecrets string          `flag:"webhook-secrets" file:"true" secret:"value" for:"serve" help:"one or two secrets that sign deliveries: whsec_ and the base64 of 24 to 64 bytes"`
	WebhookAllow   names           `flag:"webhook-allow" for:"serve" help:"hosts of HONGBAO_WEBHOOK_URL that may have a private address, or use http://"`
	RulesFile      string          `flag:"rules-file" for:"serve" help:"file with rules that the texts of all rooms must keep to, a JSON list; a change is used within 3 s; empty: none"`
	HookURL        string          `flag:"hook-url" for:"serve" help:"https://… that is asked, signed, before the commands of HONGBAO_HOOKS; empty: none"`
	HookSecrets    string          `flag:"hook-secrets" file:"true" secret:"value" for:"serve" help:"one or two secrets that sign questions, in the form of HONGBAO_WEBHOOK_SECRETS"`
	HookAllow      names           `flag:"hook-allow" for:"serve" help:"hosts of HONGBAO_HOOK_URL that may have a private address, or use http://"`
	Hooks          names           `flag:"hooks" for:"serve" help:"commands about which HONGBAO_HOOK_URL is asked: send, edit, send_packet, create_room, invite, grab, and file: uploads that are whole"`
	HookTimeout    time.Duration   `flag:"hook-timeout" default:"300ms" for:"serve" help:"how long a question may take; then the command is carried out or refused, as HONGBAO_HOOK_FAIL says"`
	HookFail       hookFail        `flag:"hook-fail" default:"send:open,edit:open,send_packet:closed,create_room:open,invite:open,grab:closed,file:open" for:"serve" help:"without an answer open carries the command out, and closed refuses it; a command that is not named keeps its default"`
	HookFund       onOff           `flag:"hook-fund" default:"off" for:"serve" help:"the answer about send_packet may fund the packet from the host's own ledger: on or off"`
	PushContact    string          `flag:"push-contact" for:"serve" help:"mail address or https:// page of the operator, for push services: switches on Web Push; empty: off"`
	PushKey        string          `flag:"push-key" file:"true" secret:"value" for:"serve" help:"private key for push services (VAPID): 32 bytes in base64url; empty when embedded: the file push-key in the data folder"`
	PushAllow      names           `flag:"push-allow" for:"serve" help:"hosts of push services that may have a private address, use http://, or another port than 443"`
	Pprof          onOff           `flag:"pprof" default:"off" for:"serve" help:"profiles at /debug/pprof of the operator's listener: on or off"`
	DataDir        string          `flag:"data-dir" default:"./hongbao-data" for:"serve migrate audit credit restored datakey backup vacuum copy import export" help:"folder of the embedded database; unused with HONGBAO_DATABASE_URL, except by copy"`
	RedisURL       string          `flag:"redis-url" file:"true" secret:"password" for:"serve" help:"redis://, rediss://, redis+sentinel://host:port,host:port/master or redis+cluster://host:port,host:port; with the database it makes many instances one system"`
	DatabaseURL    string          `flag:"database-url" file:"true" secret:"password" for:"serve migrate audit credit restored datakey backup vacuum copy import export" help:"postgres://…; instead of the embedded database"`
	Migrate        migrations.Mode `flag:"migrate" default:"auto" for:"serve" help:"the schema of the database at the start: auto brings it up to date, check refuses one of another version, off does not look"`
	DataKeyFile    string          `flag:"data-key-file" for:"serve credit datakey backup copy" help:"file with the key that encrypts passphrases and seeds in the database; empty: none, or data.key in the data folder when embedded"`
	JWTSecret      string          `flag:"jwt-secret" file:"true" secret:"value" for:"serve token" help:"HS256 secret of your tokens, at least 32 bytes"`
	JWTSecretOld   string          `flag:"jwt-secret-previous" file:"true" secret:"value" for:"serve" help:"a second secret that tokens may be signed with, while another replaces it"`
	JWTPublicKey   keyFile         `flag:"jwt-public-key" for:"serve" help:"file with the public key of your tokens, instead of a secret: PEM of RSA (RS256), P-256 (ES256) or Ed25519 (EdDSA)"`
	JWTJWKSURL     string          `flag:"jwt-jwks-url" file:"true" secret:"password" for:"serve" help:"https://… of the public keys of your tokens (a JSON Web Key Set), instead of a secret; changes there are followed"`
	JWTIssuer      string          `flag:"jwt-issuer" for:"serve token" help:"iss that tokens must carry; empty: any, but a public key or JWKS needs an issuer or an audience"`
	JWTAudience    string          `flag:"jwt-audience" for:"serve token" help:"aud that tokens must carry; empty: any with a secret, none with a public key or JWKS"`
	AdminScope     string          `flag:"admin-scope" default:"hongbao:admin" for:"serve" help:"scope of your tokens that opens the admin endpoints"`
	AllowedOrigins origins         `flag:"allowed-origins" for:"serve" help:"origins of web pages elsewhere that may connect"`
	TrustedProxies addresses       `flag:"trusted-proxies" for:"serve" help:"addresses and networks (10.0.0.0/8) of your load balancers: their X-Forwarded-For, -Host and -Proto are believed"`
	Guests         guestMode       `flag:"guests" for:"serve" help:"who may sign in without a token: off, local or public; empty: local when embedded on a loopback address without a JWT key, else off"`
	GuestCredit    credit          `flag:"guest-credit" for:"serve" help:"play money of a new guest, in minor units; empty: 100000; with a JWT key 0, and nothing else"`
	GuestKey       string          `flag:"guest-key" file:"true" secret:"value" for:"serve" help:"signs the tokens of guests: 64 hex digits; empty when embedded: the file guest-key in the data folder"`
	GuestKeyOld    string          `flag:"guest-key-previous" file:"true" secret:"value" for:"serve" help:"a second key that tokens of guests may be signed with, while another replaces it"`
	Lobby          onOff           `flag:"lobby" for:"serve" help:"a public room with a welcome packet for newcomers: on or off; empty: on when embedded with guests' play money, else off"`
	Pictures       onOff           `flag:"pictures" default:"on" for:"serve" help:"users whose tokens say no avatar, and guests, may upload a picture: on or off"`
	Skins          string          `flag:"skins" for:"serve" help:"folder with up to 12 drawings for envelopes, the same for all instances: a file name.svg or name.png of at most 64 KiB for each skin; empty: none"`
	Search         onOff           `flag:"search" default:"on" for:"serve import" help:"texts and greetings can be searched; the index takes about 100 bytes a word in Postgres, and a Chinese character is two words: on or off"`
	Files          string          `flag:"files" for:"serve audit backup copy import export" help:"where pictures, recordings and other files are stored: the path of a folder that all instances share, s3://bucket/prefix?endpoint=https://…&region=…, or off; empty: the folder files in the data folder when embedded, else off"`
	FilesKey       string          `flag:"files-key" file:"true" secret:"value" for:"serve audit backup copy import export" help:"access key of the S3 store of HONGBAO_FILES"`
	FilesSecret    string          `flag:"files-secret" file:"true" secret:"value" for:"serve audit backup copy import export" help:"secret key of the S3 store of HONGBAO_FILES"`
	FileBytes      int64           `flag:"file-bytes" default:"26214400" for:"serve" help:"largest file, at most 1 GiB; pictures have at most 20 MiB and recordings 4 MiB"`
	FileDayBytes   int64           `flag:"file-day-bytes" default:"524288000" for:"serve" help:"most bytes of files that a user may upload a day, and a third of what the guests of an address may; 0: any number"`
	FilesBytes     int64           `flag:"files-bytes" default:"10737418240" for:"serve" help:"most bytes of all files together, of uploads that are coming and of what is stored; 0: any number"`
	TextsKeep      keptDays        `flag:"texts-keep" default:"0" for:"serve" help:"for how many days texts and their files are kept, in all rooms or by kind: 365, or public:30,private:365,direct:0; 0: for ever; a room may have its own number (server API)"`
	RetentionHours hours           `flag:"retention-hours" for:"serve" help:"hours of the day in UTC in which old texts are removed, such as 18-22; empty: all hours"`
	ActsKeep       int64           `flag:"acts-keep" default:"0" for:"serve" help:"for how many days the acts of administrators and API keys are kept, at least 90; 0: for ever"`
	ReservedNames  names           `flag:"reserved-names" default:"admin,administrator,moderator,system,official,support,hongbao,客服,官方,管理员,系统" for:"serve" help:"words that the names of guests may not hold"`
	Currency       currency        `flag:"currency" default:"CNY:2" for:"serve audit credit" help:"code and number of decimal places"`
	Limits         onOff           `flag:"limits" default:"on" for:"serve" help:"rates of users, connections and new guests: on or off"`
	MaxSockets     int64           `flag:"max-sockets" default:"0" for:"serve" help:"most sockets of this instance; 0: what the limit of open files allows, less a reserve"`
	MaxPerAddress  int64           `flag:"max-sockets-per-address" default:"2000" for:"serve" help:"most sockets of one address on this instance, and as many other connections; of an IPv6 address of its /64; at most half of all sockets; 0: any number"`
	MaxReplyBytes  int64           `flag:"max-reply-bytes" default:"268435456" for:"serve" help:"most bytes of replies that wait for slow clients, over all sockets and HTTP"`
	MaxReadWait    time.Duration   `flag:"max-read-wait" default:"1s" for:"serve" help:"expected wait of commands that read many rows, beyond which the users that have read most are refused; 0: any wait"`
	MaxPacketTotal int64           `flag:"max-packet-total" default:"20000000" for:"serve" help:"largest packet, in minor units"`
	MaxPacketCount int64           `flag:"max-packet-count" default:"10000" for:"serve" help:"most shares of a packet"`
	MaxOpenPackets int64           `flag:"max-open-packets" default:"50" for:"serve" help:"most packets that a user may have open at a time; 0: any number"`
	DaySent        dayLimit        `flag:"day-sent" default:"off" for:"serve" help:"most that a user may send in packets a day, in minor units; off; own: only users whose limit the server API has set have one"`
	DayReceived    dayLimit        `flag:"day-received" default:"off" for:"serve" help:"the same for what a user gets from packets a day; each grab then takes a query"`
	DayPackets     dayLimit        `flag:"day-packets" default:"off" for:"serve" help:"the same for the number of packets that a user sends a day"`
	DayOffset      time.Duration   `flag:"day-offset" default:"0s" for:"serve" help:"how long before midnight UTC a day of these limits begins, -12h to 14h: 8h for China; the same for all instances"`
	PublicRooms    int64           `flag:"public-rooms" default:"50" for:"serve" help:"most public rooms that a user may own"`
	CreateRate     contactRate     `flag:"create-rate" default:"30,300,3000" for:"serve" help:"rooms a minute that may be created: by a user, by the guests of an address, by all guests and by all others; 0: any number"`
	InviteRate     contactRate     `flag:"invite-rate" default:"60,600,6000" for:"serve" help:"the same for invitations"`
	DirectRate     contactRate     `flag:"direct-rate" default:"60,600,6000" for:"serve" help:"the same for direct rooms that may be asked for"`
	ReadyNeeds     needs           `flag:"ready-needs" default:"database,clocks" for:"serve" help:"the parts without which /readyz answers 503: database, redis, clocks; without the others it answers 200 and degraded"`
	DrainDelay     grace           `flag:"drain-delay" for:"serve" help:"how long the stopping server still accepts clients while /readyz answers 503 already; empty: 5s, when embedded 0s"`
	Drain          grace           `flag:"drain" for:"serve" help:"how long closing the sockets is spread over when the server stops; empty: 20s, when embedded 1s"`
	AuditEvery     time.Duration   `flag:"audit-every" default:"1h" for:"serve" help:"how often the instances together audit the books in the background; 0: only when an administrator asks"`
	LogLevel       logLevel        `flag:"log-level" default:"INFO" for:"serve migrate audit credit restored datakey copy import export" help:"DEBUG, INFO, WARN or ERROR"`
	LogFormat      logFormat       `flag:"log-format" default:"text" for:"serve migrate audit credit restored datakey copy import export" help:"text or json"`

	traces      traces.Settings // OTEL_…; of serve and doctor
	secretFiles []string        // names of the files from which twin settings were read
}

// setting is one field of a config, or its file twin, ready to be set from text.
type setting struct {
	flag     string
	env      string
	fallback string
	help     string
	commands []string
	secret   string // tag of the field; "" for a file twin
	fromFile bool
	field    reflect.Value
	files    *[]string // secretFiles of the config
}

// settings lists the config's fields, in order, each file twin after its field.
func (c *config) settings() []setting {
	var list []setting
	value := reflect.ValueOf(c).Elem()
	for i := range value.NumField() {
		tag := value.Type().Field(i).Tag
		if tag == "" {
			continue
		}
		s := setting{
			flag:     tag.Get("flag"),
			fallback: tag.Get("default"),
			help:     tag.Get("help"),
			commands: strings.Fields(tag.Get("for")),
			secret:   tag.Get("secret"),
			field:    value.Field(i),
			files:    &c.secretFiles,
		}
		s.env = variable(s.flag)
		list = append(list, s)
		if tag.Get("file") == "true" {
			twin := s
			twin.flag += "-file"
			twin.env = variable(twin.flag)
			twin.help = "file that holds " + s.env
			twin.fromFile, twin.secret = true, ""
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

// value returns the name of the variable without _FILE: a setting and its file twin have the same.
func (s setting) value() string {
	if s.fromFile {
		return strings.TrimSuffix(s.env, "_FILE")
	}
	return s.env
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
		*s.files = append(*s.files, text)
		text = strings.TrimRight(string(content), "\r\n")
	}
	switch p := s.field.Addr().Interface().(type) {
	case encoding.TextUnmarshaler:
		return p.UnmarshalText([]byte(text))
	case *string:
		*p = text
	case *int64:
		n, err := parseWhole(text)
		if err != nil {
			return err
		}
		*p = n
	case *time.Duration:
		d, err := parseDuration(text)
		if err != nil {
			return err
		}
		*p = d
	default:
		return fmt.Errorf("no way to read a %T", p)
	}
	return nil
}

// hasPassword matches a URL or a connection string of Postgres that has a password.
var hasPassword = regexp.MustCompile(`(?i)://[^/@]*:[^@]*@|password\s*=`)

// load fills the config for one subcommand: first defaults, then the environment, then flags. It declares the flags on fs and
// parses them from args.
func (c *config) load(fs *flag.FlagSet, command string, args, environ []string) error {
	settings := c.settings()
	if err := c.fromEnvironment(settings, command, environ); err != nil {
		return err
	}
	var exposed error             // not returned by the flag's function: package flag would add the value, a secret, to the error
	byFlag := map[string]string{} // the flag that has set a field, by the name of its variable without _FILE
	for _, s := range settings {
		if slices.Contains(s.commands, command) {
			fs.Func(s.flag, s.help, func(text string) error {
				if s.secret == "value" || s.secret == "password" && hasPassword.MatchString(text) {
					exposed = fmt.Errorf("--%s has a secret, and others may read the command line: use %s or %[2]s_FILE", s.flag, s.env)
					return nil
				}
				twin, set := byFlag[s.value()]
				if set && twin != s.flag {
					return fmt.Errorf("--%s sets the same: keep one", twin)
				}
				byFlag[s.value()] = s.flag
				return s.set(text)
			})
		}
	}
	if err := fs.Parse(args); err != nil {
		return err
	}
	if exposed != nil {
		return exposed
	}
	if fs.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if command != commands()[0].name {
		return nil
	}
	traced, err := traces.Read(environ)
	c.traces = traced
	return err
}

// fromEnvironment sets the settings that the command uses. An unknown HONGBAO_ variable is an error: a misspelt or unsupported
// setting must not look as if it worked. The variables of Kubernetes and of package crashpoint are no error. An empty variable
// counts as absent.
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
			return fmt.Errorf("%s and %s are both set: keep one", s.value(), s.env)
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
