package wire

// Rule is a rule of a room. Which fields it has follows from its kind.
type Rule struct {
	Kind     string   `json:"kind" doc:"'words', 'patterns', 'links', 'slow', 'wait', 'repeat' or 'files'"`
	Do       string   `json:"do,omitempty" doc:"'refuse' (the default), 'hold' or 'report'; the latter two of words, patterns and links only"`
	Say      string   `json:"say,omitempty" doc:"what the user reads whose text is refused or held"`
	Words    []string `json:"words,omitempty" doc:"of words"`
	Patterns []string `json:"patterns,omitempty" doc:"of patterns, each RE2; case does not matter"`
	Hosts    []string `json:"hosts,omitempty" doc:"of links: where links may lead, with what is below; missing: nowhere"`
	Seconds  int      `json:"seconds,omitempty" doc:"of slow, wait and repeat"`
	Days     int      `json:"days,omitempty" doc:"of files"`
}

// RulesRequest is the request of rules.
type RulesRequest struct {
	Room string `json:"room"`
}

// RulesReply is the reply of rules.
type RulesReply struct {
	Rules []Rule `json:"rules"`
}

// SetRulesRequest is the request of set_rules.
type SetRulesRequest struct {
	Room  string `json:"room"`
	Rules []Rule `json:"rules" doc:"all rules of the room, at most 20; they replace those before"`
	Try   bool   `json:"try,omitempty" doc:"change nothing: only tell which of the last 1,000 texts the rules would meet"`
}

// SetRulesReply is the reply of set_rules.
type SetRulesReply struct {
	Tried int     `json:"tried,omitempty" doc:"texts on which the rules were tried"`
	Met   []int64 `json:"met,omitempty" doc:"their seqs which a rule would refuse, hold or report, the newest first"`
}

// HeldTextsRequest is the request of held_texts.
type HeldTextsRequest struct {
	Room string `json:"room"`
}

// HeldTextsReply is the reply of held_texts.
type HeldTextsReply struct {
	Texts []HeldText `json:"texts"`
}

// HeldText is a text that a rule holds.
type HeldText struct {
	ID    string `json:"id"`
	From  User   `json:"from"`
	At    int64  `json:"at"`
	Rule  string `json:"rule" doc:"the kind of the rule"`
	Text  string `json:"text,omitempty"`
	Files int    `json:"files,omitempty" doc:"how many files it has"`
}

// AnswerTextRequest is the request of answer_text.
type AnswerTextRequest struct {
	Room  string `json:"room"`
	ID    string `json:"id" doc:"of the held text; 'not_found field=id' if it does not wait any more"`
	Admit bool   `json:"admit,omitempty" doc:"send the text as its author's; otherwise it is dropped"`
}

// AnswerTextReply is the reply of answer_text.
type AnswerTextReply struct{}

// RuleDenial is the data of an error denied that a rule is the reason of.
type RuleDenial struct {
	Rule  string `json:"rule"`            // the kind of the rule
	Until int64  `json:"until,omitempty"` // Unix milliseconds: when the user may write
	Held  bool   `json:"held,omitempty"`  // the text is kept until an admin admits it
}
