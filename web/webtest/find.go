package webtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// soon is how long people wait before they think that a page is broken, on a machine that has much else to do.
const soon = 40 * time.Second

// Sees waits until something is written on the page.
func (v *Visitor) Sees(texts ...string) {
	v.tb.Helper()
	for _, text := range texts {
		v.until(func() error {
			if now := v.Text(); !strings.Contains(now, text) {
				return fmt.Errorf("%q is not to be read in\n%s", text, now)
			}
			return nil
		})
	}
}

// Misses waits until something is not written on the page, or not any more.
func (v *Visitor) Misses(text string) {
	v.tb.Helper()
	v.until(func() error {
		if now := v.Text(); strings.Contains(now, text) {
			return fmt.Errorf("%q is to be read in\n%s", text, now)
		}
		return nil
	})
}

// Fill puts a text in place of what is in a field.
func (v *Visitor) Fill(name, text string) {
	v.tb.Helper()
	v.Press("textbox", name)
	v.Do(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	if text == "" {
		v.Key("\b")
		return
	}
	tell(v, input.InsertText, input.InsertTextParams{Text: text})
}

// Key presses keys.
func (v *Visitor) Key(keys string, modifiers ...chromedp.Modifier) {
	v.tb.Helper()
	v.Do(chromedp.KeyEvent(keys, chromedp.KeyModifiers(modifiers...)))
}

// Has waits until there is a thing, and gives its whole name.
func (v *Visitor) Has(role, name string) (whole string) {
	v.tb.Helper()
	v.until(func() error {
		node, err := v.find(role, name)
		if err == nil {
			whole = nameOf(node)
		}
		return err
	})
	return whole
}

// Lacks waits until there is no such thing, or none any more.
func (v *Visitor) Lacks(role, name string) {
	v.tb.Helper()
	v.until(func() error {
		if n := v.Count(role, name); n > 0 {
			return fmt.Errorf("%s %q is still there", role, name)
		}
		return nil
	})
}

// Count is how many things there are now whose name has a text in it.
func (v *Visitor) Count(role, part string) (n int) {
	v.tb.Helper()
	nodes, err := v.all(role)
	if err != nil {
		v.tb.Fatal(err)
	}
	for _, node := range nodes {
		if strings.Contains(nameOf(node), part) {
			n++
		}
	}
	return n
}

// until tries until there is no error.
func (v *Visitor) until(try func() error) {
	v.tb.Helper()
	end := time.Now().Add(soon)
	for {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			v.tb.Fatal(err)
		}
		time.Sleep(30 * time.Millisecond) // the page tells nobody what has changed on it
	}
}

// find gives the thing with a role and a name, or the first whose name has the text in it.
func (v *Visitor) find(role, name string) (*accessibility.Node, error) {
	nodes, err := v.all(role)
	if err != nil {
		return nil, err
	}
	var like *accessibility.Node
	var names []string
	for _, node := range nodes {
		switch found := nameOf(node); {
		case found == name:
			return node, nil
		case like == nil && strings.Contains(found, name):
			like = node
			fallthrough
		default:
			names = append(names, found)
		}
	}
	if like == nil {
		return nil, fmt.Errorf("there is no %s %q among %q on\n%s", role, name, names, v.Text())
	}
	return like, nil
}

// all gives what has a role, as it is told to those who cannot see.
func (v *Visitor) all(role string) ([]*accessibility.Node, error) {
	root, err := call(v, dom.GetDocument, dom.GetDocumentParams{})
	if err != nil {
		return nil, err
	}
	got, err := call(v, accessibility.QueryAXTree, accessibility.QueryAXTreeParams{NodeID: root.Root.NodeID, Role: role})
	if err != nil {
		return nil, err
	}
	var seen []*accessibility.Node
	for _, node := range got.Nodes {
		if !node.Ignored {
			seen = append(seen, node)
		}
	}
	return seen, nil
}

func nameOf(node *accessibility.Node) (name string) {
	if node.Name != nil {
		_ = json.Unmarshal(node.Name.Value, &name) // what is no text has no name
	}
	return strings.ReplaceAll(name, "\u00a0", " ")
}
