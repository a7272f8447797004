"""The rows of docs/language.md: what of Python is differentiated, and what is refused.

A row of `SUPPORTED` names programs of the corpus, all of which are differentiated in both modes (those marked
`second` twice): what the page says is what these show. What is refused stands in `refusals.txt`.
"""

from __future__ import annotations

__all__ = ["SUPPORTED"]

SUPPORTED: dict[str, list[tuple[str, str]]] = {
    "Assignments": [
        ("`a = b = c`, `a: float = b`", "chained_assignment annotated annotated_in_function"),
        (
            "`a, (b, *c) = d`, also of arrays and generators",
            "nested_unpacking starred_unpacking unpacking_an_array generator_unpacked_with_star",
        ),
        ("`a, b = b, a`", "swapped rotated parallel_assignment swap_in_branch"),
        ("`a += b` and all other operators", "augmented augmented_remainder augmented_fresh_array"),
        ("`a[i] = b`, `a[1:] += b`", "elements_in_loop slices_in_loop array_built_in_a_context"),
        ("`(a := b)` wherever Python allows it", "walrus walrus_in_condition walrus_inside"),
        ("`del a`, `del a[i]`, `del a.b`", "deleted_name item_deleted key_deleted attribute_deleted"),
        (
            "`global`, `nonlocal` of variables around: to read, and to assign what carries no derivative",
            "reads_a_global globals_are_read global_counter global_flag_in_a_loop global_table_made_once "
            "variable_around_counter",
        ),
        ("attributes of modules and classes, to the same end", "attributes_of_a_module_and_a_class_set"),
    ],
    "Branches and loops": [
        ("`if`, `elif`, `else`, `a if b else c`", "if_else elif_chain ternary_of_ternaries"),
        ("`and`, `or`, `a < b < c`", "values_of_and_or chained_comparison short_circuit_or"),
        ("`match`", "by_literal by_shape with_guards by_keys by_class nested_pattern attributes_of_a_class"),
        ("`for` over arrays, lists, tuples, dicts, strings", "over_array over_list over_keys string_loop"),
        (
            "`range(a, b, c)`, `zip(strict=...)`, `enumerate(start=...)`, `reversed`",
            "downward_range over_zip over_enumerate_from over_reversed over_enumerated_zip",
        ),
        (
            "`np.ndindex`, `np.ndenumerate`",
            "over_shape over_counts over_whole_indices index_loop_that_is_left enumerated_elements "
            "enumerated_while_it_changes enumerated_in_comprehensions",
        ),
        ("`while`, `while True`", "while_loop newton endless_while while_with_and"),
        ("`break`, `continue`, `else` of loops", "break_when_large continue_and_break for_else while_else"),
        ("`return` anywhere", "early_return return_from_nested_loop several_returns"),
    ],
    "Exceptions and contexts": [
        ("`raise`, `assert`", "raise_in_untaken_branch with_assertions failed_assertion"),
        (
            "`try`, `except`, `else`: the derivative is that of the way taken",
            "exception_handled several_handlers how_far_it_got else_and_finally exceptions_in_a_loop "
            "nested_attempts",
        ),
        ("`finally`", "finally_alone else_and_finally"),
        ("exceptions raised by what is called", "exceptions_of_what_is_called exception_in_a_closure"),
        ("`contextlib.suppress`, `contextlib.nullcontext`", "suppressed null_context"),
        ("`np.errstate` and the like: they hold in the reverse sweep, too", "error_state context_in_a_loop"),
        (
            "files, locks, context managers of your own, `contextlib.contextmanager`",
            "several_contexts lock context_of_a_class contexts_of_classes_that_carry contexts_of_generators",
        ),
    ],
    "Functions": [
        (
            "nested functions, lambdas, closures",
            "nested_function nested_lambda closure_in_loop closures_made_in_a_loop",
        ),
        ("`nonlocal`", "rebound_variables counters_by_closures"),
        (
            "functions, methods and `functools.partial` that are held, chosen and passed on",
            "method_as_a_value methods_in_a_table callables_in_a_list closures_bind_late",
        ),
        (
            "defaults, keyword-only and positional-only parameters",
            "nested_default keyword_only positional_only",
        ),
        (
            "`*args` and `**kwargs`",
            "star_parameters star_parameters_of_a_recursion nested_star_function shadowed_keyword",
        ),
        (
            "`f(*args, **kwargs)`",
            "tuple_expanded list_expanded array_expanded dict_expanded list_of_any_length "
            "arguments_passed_on",
        ),
        ("decorators with `functools.wraps`, `functools.lru_cache`", "decorated_function cached_functions"),
        ("functions that a context manager decorates, `@np.errstate(...)`", "functions_in_contexts"),
        ("`zip(*rows)`, `range(*bounds)`", "zipped_columns sums_of_columns expanded_range"),
        ("recursion", "recursion mutual_recursion recursive_closure"),
        (
            "recursion that changes what it is given or captures: a `memo`, a tree, a list",
            "remembered_values cheapest_way memo_passed_on search_tree sorted_by_recursion",
        ),
        (
            "functions as arguments, results and elements",
            "function_as_argument returned_closure functions_in_a_tuple",
        ),
        (
            "closures that write into arrays, also stored, chosen or made by a function; `functools.partial`",
            "writers_in_a_dict writer_chosen writers_made_by_a_function writing_partial_application",
        ),
        ("arrays of the module that are written to", "work_array_of_the_module"),
        ("local imports", "imports_inside imports_in_branch missing_module"),
    ],
    "Comprehensions and what consumes them": [
        (
            "lists, sets, dicts, with conditions, nested",
            "conditions nested_lists dict_of_pairs set_of_numbers",
        ),
        (
            "generator expressions in `sum`, `any`, `all`, `max`, `tuple`, `sorted`, `join`, `math.prod`",
            "sum_of_generator any_of_generator all_of_generator extrema_of_generators tuple_of_generator "
            "joined_text product_of_generator",
        ),
        (
            "`next` of a generator, `next(iter(x))`",
            "first_that_fits first_of_iterators first_that_is_not_there",
        ),
        (
            "generator functions, `yield from`, generators that recur, `__iter__` that yields",
            "loop_over_a_generator consumers_of_generators endless_generators delegating_generator "
            "generators_of_generators recursive_generators generator_methods",
        ),
        (
            "`map`, `filter`, `functools.reduce`",
            "mapped mapped_over_two filtered reduced iterators_with_names",
        ),
        (
            "`itertools.accumulate`, `chain`, `product`, `combinations`, `permutations`, `pairwise`, "
            "`islice`, `repeat`, `takewhile`",
            "running_sums running_products chained every_pair_of_two every_combination every_order_of_two "
            "neighbouring_items first_few repeated_value while_small",
        ),
        ("`key=` of `sorted`, `max` and `min`", "sorted_by_key largest_by_key smallest_with_default"),
    ],
    "Containers": [
        ("tuples, lists, dicts as arguments and results", "tuple_argument list_argument dict_argument"),
        ("`[*a, b]`, `{**a, 'k': b}`", "starred_list starred_tuple merged_dict"),
        ("`append`, `pop`", "append_in_a_try popped popped_until_empty"),
        ("`push = items.append`", "methods_with_names"),
        (
            "`insert`, `pop(k)`, `sort`, `reverse`, `clear` of lists",
            "inserted_in_places queue_of_values sorted_in_place reversed_in_place cleared_and_filled "
            "list_sorted_through_another_name",
        ),
        ("`pop`, `popitem`, `del` of dicts", "popped_from_a_dict key_deleted deleted_through_another_name"),
        ("lists in lists and dicts", "rows_of_a_list lists_by_key list_of_two_names"),
        (
            "`deque`, `defaultdict`, `OrderedDict`, `heapq`, `bisect`",
            "last_few window_of_a_deque queue_at_both_ends default_lists default_numbers ordered_dict "
            "heap_of_numbers sorted_as_it_grows shortest_way shortest_way_with_a_set",
        ),
        ("`extend`, `+=`, `*`, copies of lists", "list_extended list_extended_in_a_loop list_copied"),
        ("`items`, `keys`, `values`, `get`", "loop_over_values loop_over_keys got_with_default"),
        ("`update`, `setdefault`, `|` of dicts", "dict_updated dict_defaults_set dicts_united"),
        (
            "named tuples, `_replace`, `_asdict`",
            "named_tuple named_tuples_made named_tuple_as_result items_of_a_named_tuple_replaced "
            "dict_of_a_named_tuple",
        ),
    ],
    "Objects": [
        (
            "attributes of arguments, dataclasses, slots",
            "attribute_of_argument dataclass_argument object_with_slots",
        ),
        (
            "methods, `__call__`, properties, inheritance",
            "method_of_argument object_called property_of_frozen inherited_method",
        ),
        (
            "`super()`, static methods, class attributes",
            "kalman_of_a_subclass method_in_a_loop global_object",
        ),
        (
            "objects of several classes in lists and dicts, each with the method of its class",
            "layers_appended parts_of_several_classes shapes_by_turns",
        ),
        (
            "changes of objects of the module, of a class, and of an enclosing function",
            "model_of_the_module model_of_a_class model_of_a_closure table_of_the_module",
        ),
        (
            "class methods, also of objects, and those that make one",
            "made_by_a_class_method class_method_of_an_object class_method_of_an_argument "
            "class_methods_of_different_classes",
        ),
        (
            "`__iter__` that returns `iter(...)`, `__len__`, `__getitem__`, `__setitem__`, `__contains__`",
            "bodies_of_a_group group_of_numbers groups_zipped values_of_a_table items_set_by_the_class "
            "items_by_pairs items_by_slices",
        ),
        (
            "operators of the user's classes, with numbers and in place",
            "vector_operators dual_numbers vectors_changed_by_operators vector_of_two_names_changed",
        ),
        (
            "`functools.cached_property`",
            "cached_values cached_values_of_an_argument cached_where_it_is_needed cached_from_cached "
            "cached_and_not_computed_again cached_in_the_first_iteration",
        ),
        (
            "`types.SimpleNamespace`",
            "namespace_in_a_loop namespace_as_result namespaces_in_a_list namespaces_in_a_namespace",
        ),
        ("`dataclasses.asdict`, `astuple`", "dataclass_as_dict dataclass_as_tuple"),
        (
            "properties that are set, objects in objects that change",
            "property_of_a_held_object held_object_changed_in_a_loop property_of_an_argument",
        ),
        ("methods that return `self`", "model_of_layers model_added_to series_in_a_loop series_in_a_branch"),
        (
            "lists of objects of several classes, which keep what they computed",
            "layers_that_keep layers_and_their_backward_pass layers_of_an_argument layers_as_attributes "
            "networks_within_layers "
            "chain_of_filters chain_that_is_left one_object_twice_in_a_chain chain_within_a_chain",
        ),
        (
            "objects in containers, as values and results",
            "objects_in_a_list objects_in_containers returns_an_object",
        ),
        (
            "objects that hold objects, alone and together",
            "sum_of_kernels part_that_two_hold part_that_is_replaced parts_that_are_exchanged",
        ),
        (
            "objects made and changed inside",
            "drain kalman leapfrog states_replaced state_in_branches property_set",
        ),
        (
            "objects in objects and containers, changed through any of their names",
            "object_in_an_object_set object_in_an_argument_set objects_in_two_lists "
            "items_of_an_argument_changed optimiser_with_state layers_that_keep_their_input graph_of_objects",
        ),
        (
            "arrays that objects and containers hold, changed in place",
            "regression_trained bodies_of_a_list arrays_of_two_dicts arrays_of_layers_and_a_list "
            "elements_of_a_held_array array_of_two_objects parameters_updated_by_key momentum_by_key",
        ),
        (
            "lists of objects of different classes",
            "layers_of_different_classes layers_made_in_a_loop weights_of_a_layer_set",
        ),
        ("`copy.copy`, `copy.deepcopy`", "best_so_far clone_moved arrays_of_a_deep_copy copies_of_a_list"),
        (
            "frozen dataclasses, `dataclasses.replace`",
            "frozen_objects_replaced frozen_argument_replaced",
        ),
        (
            "`C(*args)`, `C(**config)`, `getattr`, `setattr` and `__dict__.update` of any name",
            "objects_made_of_tuples object_made_of_a_dict attributes_of_any_name",
        ),
        (
            "methods that a text names: `getattr(self, side)(x)`",
            "methods_by_texts_in_a_loop methods_by_a_text_of_the_state methods_by_a_text_that_is_given",
        ),
    ],
    "Numbers and text": [
        ("`float`, `int`, `round`, `abs`, `complex`, `pow`", "conversions math_rounding absolute_values"),
        ("`isinstance`, `len`, `in`", "type_tests membership"),
        ("f-strings, `print`, string methods", "printing formatted_string string_methods"),
        ("slices as objects, `...`, `None` in an index", "slice_object ellipsis new_axes"),
    ],
}
