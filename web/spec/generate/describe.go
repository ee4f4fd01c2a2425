package main

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"hongbao/web/wire"
)

// allTags returns the tags for a document.
func allTags() (all []object) {
	for _, g := range wire.Groups {
		all = append(all, object{"name": g.Name, "description": g.Does})
	}
	return all
}

// tagsOf returns the tags of a method. It panics for a method whose group is not in wire.Groups.
func tagsOf(m wire.Method) []string {
	if !slices.ContainsFunc(wire.Groups, func(g wire.Group) bool { return g.Name == m.Group }) {
		panic("generate: method " + m.Name + " has the group " + strconv.Quote(m.Group) + ", which is not in wire.Groups")
	}
	return []string{m.Group}
}

// describe returns what a method does, its rate or else its cost, and, if its request has a key, that it may be repeated.
func describe(m wire.Method) string {
	parts := []string{m.Does}
	switch {
	case m.Rate != "":
		parts = append(parts, fmt.Sprintf("Counts against the rate `%s`.", m.Rate))
	case m.Cost > 0:
		parts = append(parts, fmt.Sprintf("Costs %d of the user's budget.", m.Cost))
	}
	if m.Request != nil {
		if _, keyed := reflect.TypeOf(m.Request).FieldByName("Key"); keyed {
			parts = append(parts, "Repeat the same request with the same `key` until it is answered: it is carried out once.")
		}
	}
	return strings.Join(parts, " ")
}
