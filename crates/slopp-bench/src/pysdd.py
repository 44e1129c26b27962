"""Compiles a CNF on a vtree with PySDD: `pysdd.py CNF VTREE file|kept`.

file: as PySDD reads the file, which also changes the vtree.
kept: on the vtree as it is, clauses by their lowest common vtree node, bottom-up, without any search.
Prints CPU seconds of compiling alone, decisions and elements.
"""
import sys
import time

from pysdd.sdd import SddManager, Vtree

cnf, vtree_file, how = sys.argv[1:4]
manager = SddManager.from_vtree(Vtree.from_file(vtree_file))
manager.auto_gc_and_minimize_off()


def on_kept_vtree():
    clauses = [[int(x) for x in line.split() if x != "0"] for line in open(cnf) if line[0] not in "cp%\n"]
    leaf, children, order = {}, {}, []
    for words in (line.split() for line in open(vtree_file)):
        if words and words[0] in "LI":
            order.append(int(words[1]))
            if words[0] == "L":
                leaf[int(words[2])] = int(words[1])
            else:
                children[int(words[1])] = int(words[2]), int(words[3])
    parent = {child: p for p, both in children.items() for child in both}
    rank = {node: i for i, node in enumerate(order)}

    def path(node):
        found = {node}
        while node in parent:
            node = parent[node]
            found.add(node)
        return found

    at = {}
    for clause in clauses:
        common = set.intersection(*(path(leaf[abs(x)]) for x in clause))
        at.setdefault(min(common, key=rank.get), []).append(clause)
    start = time.process_time()
    done = {}
    for node in order:
        both = children.get(node)
        result = manager.conjoin(done[both[0]], done[both[1]]) if both else manager.true()
        for clause in sorted(at.get(node, []), key=len):
            disjunction = manager.false()
            for x in clause:
                disjunction = manager.disjoin(disjunction, manager.literal(x))
            result = manager.conjoin(result, disjunction)
        done[node] = result
    return start, done[order[-1]]


if how == "kept":
    start, result = on_kept_vtree()
else:
    start = time.process_time()
    result = manager.read_cnf_file(cnf.encode())
print("result", time.process_time() - start, result.count(), result.size())
