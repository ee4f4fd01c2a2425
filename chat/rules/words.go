package rules

import "unicode/utf8"

// matcher finds the first of many words in a text in one pass (Aho and Corasick). It never changes.
type matcher struct {
	first [256]int32     // the nodes of the first bytes; 0: none
	next  map[edge]int32 // of the other nodes
	nodes []node         // nodes[0] is the root
}

type edge struct {
	from int32
	by   byte
}

// node stands for the beginning of a word.
type node struct {
	fail  int32 // the longest other beginning that the text ends with here; 0: none
	shown int32 // the nearest node on the way of fail that ends a word; 0: none
	word  int   // length of the word that ends here; 0: none does
}

// newMatcher returns a matcher of folded words, none of which is empty.
func newMatcher(words []string) *matcher {
	m := &matcher{next: map[edge]int32{}, nodes: make([]node, 1)}
	for _, word := range words {
		at := int32(0)
		for i := range len(word) {
			to := m.step(at, word[i])
			if to == 0 {
				to = int32(len(m.nodes))
				m.nodes = append(m.nodes, node{})
				m.put(at, word[i], to)
			}
			at = to
		}
		m.nodes[at].word = len(word)
	}
	m.link()
	return m
}

func (m *matcher) step(at int32, by byte) int32 {
	if at == 0 {
		return m.first[by]
	}
	return m.next[edge{at, by}]
}

func (m *matcher) put(at int32, by byte, to int32) {
	if at == 0 {
		m.first[by] = to
	} else {
		m.next[edge{at, by}] = to
	}
}

// link sets fail and shown, for shorter beginnings first.
func (m *matcher) link() {
	children := make([][]edge, len(m.nodes)) // from is the child here
	for e, to := range m.next {
		children[e.from] = append(children[e.from], edge{to, e.by})
	}
	var queue []int32
	for _, to := range m.first {
		if to != 0 {
			queue = append(queue, to)
		}
	}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, child := range children[at] {
			fail := m.nodes[at].fail
			for fail != 0 && m.step(fail, child.by) == 0 {
				fail = m.nodes[fail].fail
			}
			fail = m.step(fail, child.by)
			m.nodes[child.from].fail = fail
			if m.nodes[child.from].shown = fail; m.nodes[fail].word == 0 {
				m.nodes[child.from].shown = m.nodes[fail].shown
			}
			queue = append(queue, child.from)
		}
	}
}

// find reports whether the folded text has one of the words. A word must not be part of a longer one.
func (m *matcher) find(text string) bool {
	at := int32(0)
	for i := range len(text) {
		for at != 0 && m.step(at, text[i]) == 0 {
			at = m.nodes[at].fail
		}
		at = m.step(at, text[i])
		for end := at; end != 0; end = m.nodes[end].shown {
			if n := m.nodes[end].word; n > 0 && alone(text, i+1-n, i+1) {
				return true
			}
		}
	}
	return false
}

// alone reports whether text[from:to] is no part of a longer word.
func alone(text string, from, to int) bool {
	first, _ := utf8.DecodeRuneInString(text[from:])
	last, _ := utf8.DecodeLastRuneInString(text[:to])
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	after, _ := utf8.DecodeRuneInString(text[to:])
	return (!part(first) || !part(before)) && (!part(last) || !part(after))
}
