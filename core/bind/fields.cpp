#include "../contact/meeting.hpp"

#include "colliders.hpp"

namespace continua {
namespace {

// field.sets: particles, order, thin, two_sided, normals (None or (d, capacity)).
template <class T, int d>
FieldSet<T> set_of(nb::handle object, const std::string& name) {
    FieldSet<T> set;
    const nb::object particles = object.attr("particles"), normals = object.attr("normals");
    set.particles = particles_of<T, d>(particles, name + ".particles");
    set.order = blocks_of(object.attr("order"), set.particles.count);
    set.thin = nb::cast<bool>(object.attr("thin"));
    set.two_sided = nb::cast<bool>(object.attr("two_sided"));
    set.normals = normals.is_none() ? nullptr : checked<T>(normals, name + ".normals", {d, set.particles.stride});
    return set;
}

template <class T, int d>
std::vector<Field<T>> fields_of(const std::vector<nb::object>& list, int64_t rows) {
    std::vector<Field<T>> fields;
    for (size_t f = 0; f < list.size(); ++f) {
        const std::string name = "fields[" + std::to_string(f) + "]";
        Field<T> field;
        field.blocks = length(list[f].attr("keys"), name + ".keys");
        field.keys = checked<uint64_t>(list[f].attr("keys"), name + ".keys", {field.blocks});
        if (!std::is_sorted(field.keys, field.keys + field.blocks)) throw std::invalid_argument(name + ".keys: must be sorted");
        field.nodes = checked<T>(list[f].attr("nodes"), name + ".nodes", {field.blocks, kBlockNodes<d>, 4});
        const nb::object friction = list[f].attr("wall_friction");
        if (!friction.is_none()) field.wall_friction = checked<double>(friction, name + ".wall_friction", {rows});
        field.walls = nb::cast<bool>(list[f].attr("walls"));
        field.slack = nb::cast<double>(list[f].attr("slack"));
        field.recovery = nb::cast<double>(list[f].attr("recovery"));
        field.undone = nb::cast<double>(list[f].attr("undone"));
        if (!(field.slack <= 1)) throw std::invalid_argument(name + ".slack: must be at most 1");
        if (!(field.recovery >= 0 && field.undone >= 0))
            throw std::invalid_argument(name + ".recovery, undone: must not be negative");
        int number = 0;
        for (nb::handle set : list[f].attr("sets"))
            field.sets.push_back(set_of<T, d>(set, name + ".sets[" + std::to_string(number++) + "]"));
        fields.push_back(std::move(field));
    }
    return fields;
}

std::vector<PairRule> rules_of(const std::vector<nb::object>& list, size_t fields) {
    std::vector<PairRule> rules;
    for (const nb::object& object : list) {
        const PairRule rule{nb::cast<int>(object.attr("a")), nb::cast<int>(object.attr("b")),
                            nb::cast<double>(object.attr("friction")), nb::cast<double>(object.attr("slack"))};
        if (rule.a < 0 || rule.b < 0 || rule.a >= int(fields) || rule.b >= int(fields) || rule.a == rule.b)
            throw std::invalid_argument("rules: a and b must be two different fields");
        if (!(rule.friction >= 0)) throw std::invalid_argument("rules: friction must not be negative");
        if (!(rule.slack >= 0)) throw std::invalid_argument("rules: slack must not be negative");
        rules.push_back(rule);
    }
    return rules;
}

// f<T, d, degree>(fields, rules, lattice), everything checked.
template <class Function>
void with_fields(const std::vector<nb::object>& fields_, const std::vector<nb::object>& rules_, nb::handle lattice_,
                 int dimension, int degree_, int64_t rows, Function&& f) {
    if (fields_.empty()) return;
    dispatch(fields_[0].attr("nodes"), "fields[0].nodes", dimension, [&]<class T, int d>() {
        std::vector<Field<T>> fields = fields_of<T, d>(fields_, rows);
        const std::vector<PairRule> rules = rules_of(rules_, fields.size());
        const Lattice<T, d> lattice = lattice_of<T, d>(lattice_);
        with_degree(degree_, [&]<int degree>() { f.template operator()<T, d, degree>(fields, rules, lattice); });
    });
}

// None, or an object with slack, reach, correction and cone.
ObstacleLaw law_of(nb::handle object) {
    ObstacleLaw law;
    if (object.is_none()) return law;
    law.slack = nb::cast<double>(object.attr("slack"));
    law.reach = nb::cast<double>(object.attr("reach"));
    law.correction = nb::cast<double>(object.attr("correction"));
    law.cone = nb::cast<double>(object.attr("cone"));
    if (!(law.cone >= 0 && law.cone <= 1)) throw std::invalid_argument("law.cone: must lie between 0 and 1");
    if (!(law.slack >= 0 && law.slack <= 1)) throw std::invalid_argument("law.slack: must lie between 0 and 1");
    if (!(law.reach > 0 && law.reach <= 2)) throw std::invalid_argument("law.reach: must lie between 0 and 2");
    return law;
}

void write_totals(const std::vector<ContactTotal>& totals, double* impulses, int64_t* contacts) {
    for (size_t k = 0; k < totals.size(); ++k) {
        std::copy_n(totals[k].impulse.data(), 3, impulses + 3 * k);
        contacts[k] = totals[k].nodes;
    }
}

void resolve_fields(std::vector<nb::object> fields_, std::vector<nb::object> rules_, nb::object lattice_, int dimension,
                    int degree_, double dt, nb::object impulses_, nb::object contacts_, nb::object table,
                    std::vector<nb::object> samples, nb::object wall_impulses_, nb::object wall_contacts_, nb::object law_) {
    if (!(dt > 0)) throw std::invalid_argument("dt: must be positive");
    const int64_t count = int64_t(rules_.size());
    double* impulses = checked<double>(impulses_, "impulses", {count, 3});
    int64_t* contacts = checked<int64_t>(contacts_, "contacts", {count});
    const std::vector<Collider> colliders = colliders_of(table, samples);
    const int64_t rows = int64_t(colliders.size());
    double* wall_impulses = checked<double>(wall_impulses_, "wall_impulses", {rows, 3});
    int64_t* wall_contacts = checked<int64_t>(wall_contacts_, "wall_contacts", {rows});
    const ObstacleLaw law = law_of(law_);
    with_fields(fields_, rules_, lattice_, dimension, degree_, rows,
                [&]<class T, int d, int degree>(std::vector<Field<T>>& fields, const std::vector<PairRule>& rules,
                                                const Lattice<T, d>& lattice) {
                    nb::gil_scoped_release release;
                    Meeting<T, d> meeting(fields, rules, lattice, colliders, law, {true, dt});
                    std::vector<ContactTotal> of_pairs(rules.size()), of_rows(colliders.size());
                    if (!meeting.empty()) {
                        meeting.template find_contacts<degree>();
                        meeting.resolve(dt, of_pairs.data(), of_rows.data());
                    }
                    for (Field<T>& field : fields) prescribe_regions<T, d>(field, lattice, colliders, of_rows.data());
                    write_totals(of_pairs, impulses, contacts);
                    write_totals(of_rows, wall_impulses, wall_contacts);
                });
}

// Nodes of one field that obstacles may touch: (node in the field's arrays, row, normal out of the obstacle (3), velocity
// of the obstacle (3), (gap, gap_fill, gap_extent, distance), held), in the order of nodes.
nb::tuple obstacle_contacts(nb::object field_, nb::object lattice_, int dimension, int degree_, nb::object table,
                            std::vector<nb::object> samples, nb::object law_) {
    std::vector<int64_t> node;
    std::vector<int32_t> row;
    std::vector<double> normal, velocity, gap;
    std::vector<uint8_t> held;
    const std::vector<Collider> colliders = colliders_of(table, samples);
    const ObstacleLaw law = law_of(law_);
    with_fields({field_}, {}, lattice_, dimension, degree_, length(table, "table"),
                [&]<class T, int d, int degree>(std::vector<Field<T>>& fields, const std::vector<PairRule>& rules,
                                                const Lattice<T, d>& lattice) {
                    Meeting<T, d> meeting(fields, rules, lattice, colliders, law);
                    meeting.template find_contacts<degree>();
                    for (const ObstacleNode& found : meeting.obstacles[0].nodes) {
                        node.push_back(int64_t(found.block) * kBlockNodes<d> + found.node);
                        row.push_back(meeting.surfaces[found.surface].row);
                        normal.insert(normal.end(), found.out.begin(), found.out.end());
                        velocity.insert(velocity.end(), found.velocity.begin(), found.velocity.end());
                        gap.insert(gap.end(), {meeting.gap(found), found.gap_fill, found.gap_extent, found.distance});
                        held.push_back(meeting.held(found));
                    }
                });
    const size_t n = node.size();
    return nb::make_tuple(owned_array(std::move(node), {n}), owned_array(std::move(row), {n}),
                          owned_array(std::move(normal), {n, 3}), owned_array(std::move(velocity), {n, 3}),
                          owned_array(std::move(gap), {n, 4}), owned_array(std::move(held), {n}));
}

// Nodes of all pairs: (pair, block key, node in the block, n (3), gap_fill, gap_extent) in arrays, in the order of pairs.
nb::tuple pair_contacts(std::vector<nb::object> fields_, std::vector<nb::object> rules_, nb::object lattice_,
                        int dimension, int degree_) {
    std::vector<int32_t> pair, node;
    std::vector<uint64_t> key;
    std::vector<double> normal, gap;
    with_fields(fields_, rules_, lattice_, dimension, degree_, 0,
                [&]<class T, int d, int degree>(std::vector<Field<T>>& fields, const std::vector<PairRule>& rules,
                                                const Lattice<T, d>& lattice) {
                    Meeting<T, d> meeting(fields, rules, lattice);
                    meeting.template find_contacts<degree>();
                    for (size_t p = 0; p < rules.size(); ++p)
                        for (size_t i = 0; i < meeting.pairs[p].nodes.size(); ++i) {
                            const PairNode& found = meeting.pairs[p].nodes[i];
                            if (!found.shared) continue;
                            pair.push_back(int32_t(p)), node.push_back(int32_t(i % kBlockNodes<d>));
                            key.push_back(meeting.pairs[p].keys[i / kBlockNodes<d>]);
                            normal.insert(normal.end(), found.n.begin(), found.n.end());
                            gap.insert(gap.end(), {found.gap_fill, found.gap_extent,
                                                   found.gap(rules[p].slack * double(lattice.dx))});
                        }
                });
    const size_t n = pair.size();
    return nb::make_tuple(owned_array(std::move(pair), {n}), owned_array(std::move(key), {n}),
                          owned_array(std::move(node), {n}), owned_array(std::move(normal), {n, 3}),
                          owned_array(std::move(gap), {n, 3}));
}

// The rounds at one node: masses (n,), velocities (n, 3) changed in place, contacts between them.
void resolve_meeting(nb::object mass_, nb::object velocity_, nb::object pairs_, nb::object normals_, nb::object closing_,
                     nb::object friction_, nb::object impulses_) {
    const int64_t n = length(mass_, "mass"), count = length(pairs_, "pairs");
    const double* mass = checked<double>(mass_, "mass", {n});
    double *velocity = checked<double>(velocity_, "velocity", {n, 3}), *impulses = checked<double>(impulses_, "impulses", {count, 3});
    const int32_t* pairs = checked<int32_t>(pairs_, "pairs", {count, 2});
    const double *normals = checked<double>(normals_, "normals", {count, 3}), *closing = checked<double>(closing_, "closing", {count}),
                 *friction = checked<double>(friction_, "friction", {count});
    std::vector<Meeter> meeters(n);
    for (int64_t i = 0; i < n; ++i) meeters[i] = {mass[i], {velocity[3 * i], velocity[3 * i + 1], velocity[3 * i + 2]}, false};
    std::vector<NodeContact> contacts;
    for (int64_t k = 0; k < count; ++k) {
        const int a = pairs[2 * k], b = pairs[2 * k + 1];
        if (a < 0 || a >= n || b >= n || a == b) throw std::invalid_argument("pairs: no such field");
        contacts.push_back({a, b, {normals[3 * k], normals[3 * k + 1], normals[3 * k + 2]}, closing[k], friction[k],
                            ContactMode::separate, {}});
    }
    resolve_largest_first(contacts.data(), int(count), meeters);
    for (int64_t i = 0; i < n; ++i)
        if (meeters[i].moved) std::copy_n(meeters[i].u.data(), 3, velocity + 3 * i);
    for (int64_t k = 0; k < count; ++k) std::copy_n(contacts[k].impulse.data(), 3, impulses + 3 * k);
}

}  // namespace

void bind_fields(nb::module_& m) {
    using nb::arg;
    m.def("resolve_fields", &resolve_fields, arg("fields"), arg("rules"), arg("lattice"), arg("dimension"), arg("degree"),
          arg("dt"), arg("impulses"), arg("contacts"), arg("table"), arg("samples"), arg("wall_impulses"),
          arg("wall_contacts"), arg("law").none(), "Contact of continua with each other and with obstacles, in place.");
    m.def("obstacle_contacts", &obstacle_contacts, arg("field"), arg("lattice"), arg("dimension"), arg("degree"),
          arg("table"), arg("samples"), arg("law").none(), "Nodes of a continuum that obstacles may touch.");
    m.def("pair_contacts", &pair_contacts, arg("fields"), arg("rules"), arg("lattice"), arg("dimension"), arg("degree"),
          "Nodes that continua share, with normals and gaps.");
    m.def("resolve_meeting", &resolve_meeting, arg("mass"), arg("velocity"), arg("pairs"), arg("normals"), arg("closing"),
          arg("friction"), arg("impulses"), "The law of contact between several continua at one node.");
}

}  // namespace continua
