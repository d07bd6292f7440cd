//! Every setter and every choice, here and in plotly: the same values.

use serde_json::{Value, json, to_value};

/// A list of values that are made with the types of one crate.
macro_rules! values {
    ($plotly:ident) => {{
        use $plotly::common::*;
        use $plotly::layout::*;
        use $plotly::{Bar, HeatMap, Scatter};

        let font = || Font::new().family("serif").size(12).color("#767676");
        let title = || Title::with_text("d_k").font(font()).side(Side::Top);
        let line = |dash| Line::new().color("red").width(1.5).dash(dash);
        let marker = |symbol| {
            Marker::new()
                .symbol(symbol)
                .size(7)
                .color("blue")
                .opacity(0.5)
                .line(line(DashType::Solid))
        };
        let scale = || {
            let stop = |at, colour: &str| ColorScaleElement(at, colour.to_owned());
            ColorScale::Vector(vec![stop(0.0, "black"), stop(1.0, "white")])
        };
        let bar = || {
            ColorBar::new()
                .title(title())
                .orientation(Orientation::Horizontal)
                .thickness(8)
                .len(120)
                .len_mode(ThicknessMode::Pixels)
                .outline_width(0)
                .tick_font(font())
                .tick_vals(vec![0.0, 0.5])
                .x(0.0)
                .x_anchor(Anchor::Left)
                .x_pad(0.0)
                .y(1.0)
                .y_anchor(Anchor::Top)
                .y_pad(2.0)
        };
        let axis = || {
            Axis::new()
                .title(title())
                .type_(AxisType::Log)
                .visible(true)
                .range(vec![0.0, 2.0])
                .domain(&[0.0, 0.5])
                .fixed_range(true)
                .side(AxisSide::Right)
                .overlaying("y")
                .n_ticks(5)
                .tick_values(vec![0.0, 1.0])
                .tick_text(vec!["it".to_owned(), "was".to_owned()])
                .tick_font(font())
                .tick_length(0)
                .tick_angle(-90.0)
                .tick_format(".1f")
                .show_tick_labels(false)
                .show_line(false)
                .show_grid(false)
                .grid_color("grey")
                .zero_line(false)
                .zero_line_color("grey")
        };
        let legend = Legend::new()
            .title(title())
            .orientation(Orientation::Horizontal)
            .item_sizing(ItemSizing::Constant)
            .trace_group_gap(0)
            .x(1.0)
            .x_anchor(Anchor::Right)
            .y(1.25)
            .y_anchor(Anchor::Top);
        let margin = Margin::new().left(1).right(2).top(3).bottom(4).auto_expand(false);
        let annotation = Annotation::new()
            .text("a head")
            .show_arrow(true)
            .font(font())
            .arrow_color("red")
            .arrow_width(0.8)
            .arrow_head(2)
            .x_ref("paper")
            .y_ref("y")
            .x(0.25)
            .y(0.5)
            .ax(1.5)
            .ay(2.5);
        let edge = ShapeLine::new().color("red").width(1.0);
        let shape = Shape::new()
            .shape_type(ShapeType::Rect)
            .x_ref("x")
            .y_ref("y2")
            .x0(-0.5)
            .x1(3.5)
            .y0(0.5)
            .y1(2.5)
            .fill_color("none")
            .line(edge);
        let layout = Layout::new()
            .auto_size(true)
            .height(300)
            .margin(margin)
            .font(font())
            .paper_background_color("white")
            .plot_background_color("black")
            .drag_mode(DragMode::False)
            .hover_mode(HoverMode::Closest)
            .show_legend(true)
            .legend(legend)
            .x_axis(axis())
            .y_axis(axis())
            .y_axis2(axis());
        let colours =
            ColorAxis::new().cmin(0.0).cmax(1.0).color_scale(scale()).color_bar(bar());
        let told = vec!["it: 0.5".to_owned(), "was: NaN".to_owned()];
        let scatter = |mode| {
            Scatter::new(vec![0.0, 1.0], vec![0.5, f64::NAN])
                .name("head 1")
                .mode(mode)
                .line(line(DashType::Dash))
                .marker(marker(MarkerSymbol::Circle))
                .text_array(vec!["a".to_owned(), "b".to_owned()])
                .text_position(Position::TopLeft)
                .hover_info(HoverInfo::Text)
                .hover_text_array(told.clone())
                .show_legend(false)
                .legend_group("1")
                .opacity(0.75)
                .x_axis("x2")
                .y_axis("y2")
        };
        let bars = Bar::new(vec!["it", "was"], vec![0.5, 1e-9])
            .name("was")
            .orientation(Orientation::Horizontal)
            .marker(Marker::new().color_array(vec!["red", "blue"]))
            .text_array(vec!["a".to_owned(), "b".to_owned()])
            .hover_info(HoverInfo::Skip)
            .hover_text_array(told.clone())
            .show_legend(true)
            .legend_group("2")
            .x_axis("x")
            .y_axis("y");
        let map = HeatMap::new_z(vec![vec![0.5, 1.0], vec![f64::NAN, 0.0]])
            .name("head 1")
            .zmin(0.0)
            .zmax(1.0)
            .color_scale(scale())
            .show_scale(false)
            .hover_info(HoverInfo::Text)
            .hover_template("%{z}")
            .x_axis("x3")
            .y_axis("y3");
        let mut values = vec![
            json!([annotation, shape, layout, colours, bars, map]),
            json!([line(DashType::Dot), line(DashType::DashDot)]),
        ];
        for mode in [
            Mode::Lines,
            Mode::LinesMarkers,
            Mode::Markers,
            Mode::MarkersText,
            Mode::Text,
        ] {
            values.push(to_value(scatter(mode)).unwrap());
        }
        for symbol in [
            MarkerSymbol::CircleOpen,
            MarkerSymbol::Diamond,
            MarkerSymbol::DiamondOpen,
            MarkerSymbol::Square,
            MarkerSymbol::TriangleUp,
        ] {
            values.push(to_value(marker(symbol)).unwrap());
        }
        values
    }};
}

#[test]
fn each_name_stands_for_what_it_does_in_plotly() {
    let theirs: Vec<Value> = values!(plotly);
    let ours: Vec<Value> = values!(crate);
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs);
    }
}
