package rules

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Kind says what a rule is about.
type Kind string

// The kinds of rules.
const (
	Words    Kind = "words"    // texts must have none of the Words
	Patterns Kind = "patterns" // texts must match none of the Patterns
	Links    Kind = "links"    // links may lead to Hosts and below them only
	Slow     Kind = "slow"     // a user writes once in Seconds
	Wait     Kind = "wait"     // a user writes Seconds after joining the room, not before
	Repeat   Kind = "repeat"   // a user does not send the same text to the room again within Seconds
	Files    Kind = "files"    // a user sends files Days after joining the room, not before
)

// Action says what happens to a text that breaks a rule.
type Action string

// Refuse does not send the text. Hold keeps it until an admin of the room has admitted it. Report sends it and reports it.
const (
	Refuse Action = "refuse"
	Hold   Action = "hold"
	Report Action = "report"
)

// Rule is one rule. Only the fields of its kind are set.
type Rule struct {
	Kind     Kind     `json:"kind"`
	Do       Action   `json:"do,omitempty"`  // empty: refuse
	Say      string   `json:"say,omitempty"` // to the user whose text is refused; empty: what the rule is about
	Words    []string `json:"words,omitempty"`
	Patterns []string `json:"patterns,omitempty"`
	Hosts    []string `json:"hosts,omitempty"`
	Seconds  int      `json:"seconds,omitempty"`
	Days     int      `json:"days,omitempty"`
}

// Limits bound a set of rules: words and patterns of all rules together.
type Limits struct {
	Rules, Words, Patterns int
}

// The most that a room and an installation may have.
var (
	OfRoom         = Limits{Rules: 20, Words: 500, Patterns: 20}
	OfInstallation = Limits{Rules: 50, Words: 20_000, Patterns: 200}
)

const (
	wordChars    = 64
	patternBytes = 256
	sayChars     = 200
	mostSteps    = 1_000 // instructions of the program that a pattern becomes: its time for a text grows with them
	mostWait     = 30 * 24 * 3600
	mostTurn     = 24 * 3600 // the longest that a limiter counts
	mostDays     = 365
	mostHosts    = 200
)

// Set is a list of rules, ready to be used. It never changes. The zero value has no rules.
type Set struct{ rules []compiled }

type compiled struct {
	Rule
	words    *matcher
	patterns []*regexp.Regexp
	hosts    map[string]bool
}

// Compile checks the rules and makes them ready. An error names the rule.
func Compile(rules []Rule, l Limits) (*Set, error) {
	if len(rules) > l.Rules {
		return nil, fmt.Errorf("must be at most %d rules", l.Rules)
	}
	s := &Set{}
	patterns, words := 0, 0
	for n, r := range rules {
		if patterns, words = patterns+len(r.Patterns), words+len(r.Words); patterns > l.Patterns || words > l.Words {
			return nil, fmt.Errorf("%d: all rules together must have at most %d words and %d patterns", n+1, l.Words, l.Patterns)
		}
		c, err := compile(r, l)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", n+1, err)
		}
		s.rules = append(s.rules, c)
	}
	return s, nil
}

func compile(r Rule, l Limits) (c compiled, err error) {
	if err := r.check(); err != nil {
		return c, err
	}
	c.Rule = r
	switch r.Kind {
	case Words:
		c.words, err = compileWords(r.Words, l.Words)
	case Patterns:
		c.patterns, err = compilePatterns(r.Patterns, l.Patterns)
	case Links:
		c.hosts, err = compileHosts(r.Hosts)
	case Wait:
		err = between("seconds", r.Seconds, mostWait)
	case Slow, Repeat:
		err = between("seconds", r.Seconds, mostTurn)
	case Files:
		err = between("days", r.Days, mostDays)
	default:
		err = fmt.Errorf("kind is %q: want words, patterns, links, slow, wait, repeat or files", r.Kind)
	}
	return c, err
}

// check checks what all kinds have in common: only the fields of the kind may be set.
func (r Rule) check() error {
	switch {
	case r.Do != "" && r.Do != Refuse && r.Do != Hold && r.Do != Report:
		return fmt.Errorf("do is %q: want refuse, hold or report", r.Do)
	case utf8.RuneCountInString(r.Say) > sayChars:
		return fmt.Errorf("say must have at most %d characters", sayChars)
	}
	for field, wrong := range map[string]bool{
		"words": len(r.Words) > 0 && r.Kind != Words, "patterns": len(r.Patterns) > 0 && r.Kind != Patterns, "hosts": len(r.Hosts) > 0 && r.Kind != Links,
		"seconds": r.Seconds != 0 && r.Kind != Slow && r.Kind != Wait && r.Kind != Repeat, "days": r.Days != 0 && r.Kind != Files,
		"do": r.Do != "" && r.Do != Refuse && (r.Kind == Slow || r.Kind == Wait || r.Kind == Repeat || r.Kind == Files),
	} {
		if wrong {
			return fmt.Errorf("%s does not fit a rule of the kind %q", field, r.Kind)
		}
	}
	return nil
}

func between(field string, n, most int) error {
	if n < 1 || n > most {
		return fmt.Errorf("%s must be 1 to %d", field, most)
	}
	return nil
}

func compileWords(words []string, most int) (*matcher, error) {
	if err := between("words", len(words), most); err != nil {
		return nil, err
	}
	folded := make([]string, len(words))
	for n, word := range words {
		if folded[n] = strings.TrimSpace(Fold(word)); folded[n] == "" || utf8.RuneCountInString(word) > wordChars {
			return nil, fmt.Errorf("word %d must have 1 to %d characters that can be seen", n+1, wordChars)
		}
	}
	return newMatcher(folded), nil
}

func compilePatterns(patterns []string, most int) (all []*regexp.Regexp, err error) {
	if err := between("patterns", len(patterns), most); err != nil {
		return nil, err
	}
	for n, pattern := range patterns {
		if pattern == "" || len(pattern) > patternBytes {
			return nil, fmt.Errorf("pattern %d must have 1 to %d bytes", n+1, patternBytes)
		}
		if err := checkSteps(`(?i)` + pattern); err != nil {
			return nil, fmt.Errorf("pattern %d: %w", n+1, err)
		}
		compiled, err := regexp.Compile(`(?i)` + pattern)
		if err != nil {
			return nil, fmt.Errorf("pattern %d: %w", n+1, err)
		}
		if compiled.MatchString("") {
			return nil, fmt.Errorf("pattern %d matches every text", n+1)
		}
		all = append(all, compiled)
	}
	return all, nil
}

// checkSteps returns an error if the pattern becomes a large program, such as one with nested repetitions.
func checkSteps(pattern string) error {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return err
	}
	if steps(parsed) > mostSteps {
		return errors.New("repeats too much")
	}
	return nil
}

// steps returns an upper bound of the number of instructions of a pattern. It does not make the program, which may be very large.
func steps(r *syntax.Regexp) int {
	n := 2 + len(r.Rune)
	for _, sub := range r.Sub {
		n = min(n+steps(sub), 1<<20)
	}
	if r.Op == syntax.OpRepeat {
		n *= max(r.Min, r.Max, 1)
	}
	return min(n, 1<<20)
}

var hostForm = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)+$`)

func compileHosts(hosts []string) (map[string]bool, error) {
	if len(hosts) > mostHosts {
		return nil, fmt.Errorf("hosts must be at most %d", mostHosts)
	}
	all := map[string]bool{}
	for _, host := range hosts {
		host = strings.ToLower(host)
		if !hostForm.MatchString(host) {
			return nil, fmt.Errorf("host %q must be a name such as example.com", host)
		}
		all[host] = true
	}
	return all, nil
}

// Text is a text that is about to be sent.
type Text struct {
	Text     string
	HasFiles bool
	JoinedAt time.Time // when its author joined the room
	Now      time.Time
}

// Rate is a rule about how often the author writes. Check cannot know that.
type Rate struct {
	Rule *Rule
	Per  time.Duration
	Same bool // only the same text counts
}

// Verdict is what Check finds.
type Verdict struct {
	Refused *Rule     // the first rule that refuses the text; nil: none
	Until   time.Time // when Refused ends for the author; zero: it does not end
	Held    *Rule     // the first rule that holds the text; nil: none
	Reports []*Rule
	Rates   []Rate
}

// Empty reports whether there are no rules.
func (s *Set) Empty() bool { return s == nil || len(s.rules) == 0 }

// AboutNew reports whether Check uses Text.JoinedAt.
func (s *Set) AboutNew() bool {
	return s != nil && slices.ContainsFunc(s.rules, func(c compiled) bool { return c.Kind == Wait || c.Kind == Files })
}

// Check compares a text with the rules.
func (s *Set) Check(t Text) (v Verdict) {
	if s.Empty() {
		return v
	}
	folded := ""
	for i := range s.rules {
		r := &s.rules[i]
		if folded == "" && (r.Kind == Words || r.Kind == Patterns || r.Kind == Links) {
			folded = Fold(t.Text)
		}
		broken := false
		var until time.Time
		switch r.Kind {
		case Words:
			broken = r.words.find(folded)
		case Patterns:
			broken = slices.ContainsFunc(r.patterns, func(p *regexp.Regexp) bool { return p.MatchString(t.Text) || p.MatchString(folded) })
		case Links:
			broken = r.leadsElsewhere(folded)
		case Slow, Repeat:
			v.Rates = append(v.Rates, Rate{&r.Rule, time.Duration(r.Seconds) * time.Second, r.Kind == Repeat})
		case Wait:
			until = t.JoinedAt.Add(time.Duration(r.Seconds) * time.Second)
			broken = t.Now.Before(until)
		case Files:
			until = t.JoinedAt.AddDate(0, 0, r.Days)
			broken = t.HasFiles && t.Now.Before(until)
		}
		switch {
		case !broken:
		case r.Do == Report:
			v.Reports = append(v.Reports, &r.Rule)
		case r.Do == Hold && v.Held == nil:
			v.Held = &r.Rule
		case r.Do != Hold && v.Refused == nil:
			v.Refused, v.Until = &r.Rule, until
		}
	}
	return v
}

// links finds addresses with a scheme or www, and names of hosts with a usual ending.
var links = regexp.MustCompile(`(?:[a-z][a-z0-9+.-]*://|www\.)[^\s/?#\\]*|[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|net|org|info|biz|io|co|me|cc|tv|app|dev|xyz|top|vip|shop|club|site|online|live|link|cn|hk|tw|jp|kr|sg|my|uk|de|fr|ru|us|in|eu)\b`)

// leadsElsewhere reports whether a folded text has a link to a host that is not allowed.
func (c *compiled) leadsElsewhere(text string) bool {
	for _, link := range links.FindAllString(text, -1) {
		if _, host, found := strings.Cut(link, "://"); found {
			link = host
		}
		if at := strings.LastIndexByte(link, '@'); at >= 0 {
			link = link[at+1:]
		}
		host, _, _ := strings.Cut(link, ":")
		host = strings.TrimRight(strings.TrimPrefix(host, "www."), ".,;:!?)")
		if !c.allows(host) {
			return true
		}
	}
	return false
}

// allows reports whether the host, or one above it, is allowed.
func (c *compiled) allows(host string) bool {
	for host != "" {
		if c.hosts[host] {
			return true
		}
		_, host, _ = strings.Cut(host, ".")
	}
	return false
}
