package slack

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// marks are what Slack puts into angle brackets: <@U1>, <#C1|general>, <!here>, <https://…|label>. Its texts have no other angle brackets.
var marks = regexp.MustCompile(`<([^<>]*)>`)

// plain returns the text as people saw it, with the users whom it mentions.
func (c *converter) plain(text string) (shown string, mentions []string) {
	shown = marks.ReplaceAllStringFunc(text, func(mark string) string {
		target, label, _ := strings.Cut(mark[1:len(mark)-1], "|")
		switch {
		case target == "":
			return mark
		case target[0] == '@':
			user := target[1:]
			if !slices.Contains(mentions, c.id(user)) {
				mentions = append(mentions, c.id(user))
			}
			if label == "" {
				label = c.nameOf(user)
			}
			return "@" + label
		case target[0] == '#':
			if label == "" {
				label = c.channels[target[1:]]
			}
			return "#" + label
		case target[0] == '!':
			command, _, _ := strings.Cut(target[1:], "^")
			if label == "" {
				label = "@" + command
			}
			return label
		case label == "" || label == target || "mailto:"+label == target || strings.TrimPrefix(strings.TrimPrefix(target, "https://"), "http://") == label:
			return target
		}
		return label + " (" + target + ")"
	})
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(shown), mentions
}

// words returns all that a message says: its text, or what its attachments say, and the addresses of its files.
func (m *message) words() string {
	parts := []string{m.Text}
	if m.Text == "" {
		for _, a := range m.Attachments {
			if a.Text != "" {
				parts = append(parts, a.Text)
			} else {
				parts = append(parts, a.Fallback)
			}
		}
	}
	for _, f := range m.Files {
		name := f.Name
		if f.Title != "" {
			name = f.Title
		}
		if f.Private != "" && f.Mode != "tombstone" {
			parts = append(parts, name+": "+f.Private)
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "\n")
}

// pieces splits a text into pieces of at most limit characters, at the ends of lines where it can.
func pieces(text string, limit int) (all []string) {
	for utf8.RuneCountInString(text) > limit {
		cut := 0
		for range limit {
			_, size := utf8.DecodeRuneInString(text[cut:])
			cut += size
		}
		if line := strings.LastIndexByte(text[:cut], '\n'); line > cut/2 {
			cut = line
		}
		all = append(all, text[:cut])
		text = strings.TrimPrefix(text[cut:], "\n")
	}
	return append(all, text)
}

// emojis are the names of the emojis that people react with most. Others are left out.
var emojis = map[string]string{
	"+1": "👍", "thumbsup": "👍", "-1": "👎", "thumbsdown": "👎", "heart": "❤️", "joy": "😂", "smile": "😄", "grinning": "😀", "slightly_smiling_face": "🙂",
	"tada": "🎉", "eyes": "👀", "fire": "🔥", "100": "💯", "pray": "🙏", "clap": "👏", "ok_hand": "👌", "white_check_mark": "✅", "heavy_check_mark": "✔️",
	"rocket": "🚀", "raised_hands": "🙌", "thinking_face": "🤔", "cry": "😢", "sob": "😭", "wave": "👋", "muscle": "💪", "star": "⭐", "bulb": "💡",
	"heart_eyes": "😍", "sunglasses": "😎", "sweat_smile": "😅", "laughing": "😆", "open_mouth": "😮", "x": "❌", "question": "❓", "exclamation": "❗",
}
