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

// findTimeout is how long the methods of Visitor wait for the page to show something. It allows for a busy machine.
const findTimeout = 40 * time.Second

// Sees waits until each text is visible on the page.
func (v *Visitor) Sees(texts ...string) {
	v.tb.Helper()
	for _, text := range texts {
		v.retry(func() error {
			if now := v.Text(); !strings.Contains(now, text) {
				return fmt.Errorf("%q is not visible in\n%s", text, now)
			}
			return nil
		})
	}
}

// Misses waits until the text is not visible on the page.
func (v *Visitor) Misses(text string) {
	v.tb.Helper()
	v.retry(func() error {
		if now := v.Text(); strings.Contains(now, text) {
			return fmt.Errorf("%q is still visible in\n%s", text, now)
		}
		return nil
	})
}

// Fill replaces the content of a field.
func (v *Visitor) Fill(name, text string) {
	v.tb.Helper()
	v.Press("textbox", name)
	v.Do(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	if text == "" {
		v.Key("\b")
		return
	}
	mustCall(v, input.InsertText, input.InsertTextParams{Text: text})
}

// Key presses keys.
func (v *Visitor) Key(keys string, modifiers ...chromedp.Modifier) {
	v.tb.Helper()
	v.Do(chromedp.KeyEvent(keys, chromedp.KeyModifiers(modifiers...)))
}

// Has waits until an element exists that has this role and whose name is, or contains, the given one. It returns the element's full
// name.
func (v *Visitor) Has(role, name string) (whole string) {
	v.tb.Helper()
	v.retry(func() error {
		node, err := v.find(role, name)
		if err == nil {
			whole = nameOf(node)
		}
		return err
	})
	return whole
}

// Lacks waits until no element exists that has this role and whose name contains the given one.
func (v *Visitor) Lacks(role, name string) {
	v.tb.Helper()
	v.retry(func() error {
		if n := v.Count(role, name); n > 0 {
			return fmt.Errorf("%s %q is still there", role, name)
		}
		return nil
	})
}

// Count returns how many elements with this role have a name that contains the text part.
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

// retry calls try until it returns no error, and fails the test after findTimeout.
func (v *Visitor) retry(try func() error) {
	v.tb.Helper()
	end := time.Now().Add(findTimeout)
	for {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			v.tb.Fatal(err)
		}
		time.Sleep(30 * time.Millisecond) // the browser sends no event for a change on the page
	}
}

// find returns the element with this role and name. If there is none, it returns the first one with this role whose name contains
// the given one.
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

// all returns the elements with this role in the accessibility tree.
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
		_ = json.Unmarshal(node.Name.Value, &name) // a name that is not a string counts as empty
	}
	return strings.ReplaceAll(name, "\u00a0", " ")
}
