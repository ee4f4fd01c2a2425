package chat

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Preview says what is behind a link of a text. The host gives it; the server never reads an address of a text.
type Preview struct {
	URL   string `json:"url"` // as the text has it
	Title string `json:"title"`
	Text  string `json:"text,omitempty"`
}

// Bounds of a preview: of URL in bytes, of the others in characters.
const (
	previewURLBytes   = 2048
	previewTitleChars = 200
	previewTextChars  = 500
)

// Check returns an error unless the preview may stand below the text.
func (p Preview) Check(text string) error {
	switch {
	case len(p.URL) > previewURLBytes:
		return BadField("preview.url", fmt.Sprintf("must have at most %d bytes", previewURLBytes))
	case !isWebAddress(p.URL):
		return BadField("preview.url", "must be an address of http or https, without a user name")
	case !slices.Contains(linksIn(text), p.URL):
		return BadField("preview.url", "must be a link of the text, written as there")
	case strings.TrimSpace(p.Title) == "":
		return BadField("preview.title", "is missing")
	}
	if err := checkShown("preview.title", p.Title, previewTitleChars); err != nil {
		return err
	}
	return checkShown("preview.text", p.Text, previewTextChars)
}

func isWebAddress(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil
}

// checkShown returns an error if a text is too long, or has characters that could make it look like another one: controls, line breaks, and those
// that change the direction of writing.
func checkShown(field, text string, limit int) error {
	if utf8.RuneCountInString(text) > limit {
		return tooLong(field, limit)
	}
	if strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
	}) {
		return BadField(field, "must not hold control characters")
	}
	return nil
}

// linkPattern finds addresses as the page does (views/line-text.js): one ends at a character that no address can start with, such as Chinese that
// follows without a space.
var linkPattern = regexp.MustCompile(`(?i)\bhttps?://[^\s\p{Z}\x{feff}<>"'` + "`" + `\x{2018}-\x{201f}\x{3000}-\x{303f}\x{3400}-\x{9fff}\x{ff00}-\x{ffef}]+`)

// linksIn returns the addresses in a text, without the punctuation that follows them.
func linksIn(text string) []string {
	found := linkPattern.FindAllString(text, -1)
	for i, address := range found {
		found[i] = withoutPunctuation(address)
	}
	return found
}

// withoutPunctuation removes punctuation from the end of an address. A bracket that was opened in the address stays.
func withoutPunctuation(address string) string {
	short := strings.TrimRight(address, ".,;:!?)]}*_~…")
	rest := address[len(short):]
	if strings.HasPrefix(rest, ")") && strings.LastIndexByte(short, '(') > strings.LastIndexByte(short, ')') {
		return short + ")"
	}
	return short
}
